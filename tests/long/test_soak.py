# SPDX-License-Identifier: Apache-2.0
"""The long soak: RINGTAIL_SOAK_SECONDS (default 600) of full load with random disconnects."""
import os

import pytest
from harness import Server
from harness.fixtures import MAIN
from harness.soak import descriptors_return_to, soak

SECONDS = int(os.environ.get("RINGTAIL_SOAK_SECONDS", "600"))

pytestmark = [pytest.mark.long, pytest.mark.timeout(SECONDS + 300)]


@pytest.mark.parametrize("options", [{}, {"threads": 4, "send_buffer": "64k", "body_memory": "64k"}], ids=["zero-config", "small buffers"])
def test_full_load_with_random_disconnects_leaves_memory_descriptors_and_log_clean(options):
    with Server(MAIN, **options) as server:
        server.get()
        before = server.fds()
        soak(server, SECONDS / 2)
        descriptors_return_to(server, before)
