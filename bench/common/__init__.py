# SPDX-License-Identifier: Apache-2.0
"""What the benches share: arms, peers, the client, clocks of the kernel, statistics, tables."""
