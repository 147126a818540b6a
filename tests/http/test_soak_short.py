# SPDX-License-Identifier: Apache-2.0
"""Twenty seconds of full load with random disconnects: no leak, no error. The ten-minute one is tests/long/test_soak.py."""
from harness import SCALE
from harness.soak import descriptors_return_to, soak


def test_twenty_seconds_of_random_clients_leave_memory_descriptors_and_log_clean(ringtail):
    server = ringtail(threads=4, send_buffer="64k", body_memory="64k")
    server.get()
    before = server.fds()
    soak(server, 20)
    descriptors_return_to(server, before)
    assert server.handlers() == 4
    server.stop(deadline=60 * SCALE)
