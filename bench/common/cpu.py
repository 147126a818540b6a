# SPDX-License-Identifier: Apache-2.0
"""CPU time as the kernel counts it, and which CPUs a bench uses."""
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def processes_of(session):
    """Pids of the session: a server is started as the leader of its own, its children are in it."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        stat = read(f"/proc/{name}/stat")
        # The name in parentheses may hold anything; behind the last one: state, parent, group, session.
        fields = stat[stat.rfind(b")") + 2:].split()
        if len(fields) > 3 and int(fields[3]) == session:
            found.append(int(name))
    return found


def thread_times(session):
    """{(pid, tid): (name, nanoseconds on CPU)} of all threads of the session."""
    times = {}
    for pid in processes_of(session):
        try:
            tids = os.listdir(f"/proc/{pid}/task")
        except (FileNotFoundError, ProcessLookupError):
            continue
        for tid in tids:
            schedstat = read(f"/proc/{pid}/task/{tid}/schedstat").split()
            if schedstat:
                name = read(f"/proc/{pid}/task/{tid}/comm").decode().strip()
                times[pid, int(tid)] = (name, int(schedstat[0]))
    return times


def spent(before, after):
    """Nanoseconds by thread name between two thread_times(). A thread that has ended in between is not seen."""
    by_name = {}
    for key, (name, now) in after.items():
        used = now - before.get(key, (name, 0))[1]
        by_name[name] = by_name.get(name, 0) + used
    return by_name


def busy(cpus):
    """Seconds that the CPUs were busy, and that the hypervisor took from them, since boot."""
    total = stolen = 0
    for line in read("/proc/stat").decode().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cpus:
            user, nice, system, _idle, _wait, irq, softirq, steal = (int(field) for field in fields[:8])
            total += user + nice + system + irq + softirq
            stolen += steal
    return total / TICK, stolen / TICK


class Foreign:
    """How much of the CPUs went to others while something was measured."""

    def __init__(self, cpus):
        self.cpus = set(cpus)
        self.theirs = self.stolen = self.capacity = 0.0
        self.begun = None

    def begin(self):
        self.begun = (time.monotonic(), *busy(self.cpus))

    def end(self, ours):
        """ours: seconds of CPU that what is measured has used since begin()."""
        then, used, stolen = self.begun
        used_now, stolen_now = busy(self.cpus)
        self.capacity += (time.monotonic() - then) * len(self.cpus)
        self.theirs += used_now - used - ours
        self.stolen += stolen_now - stolen

    def share(self):
        return max(0.0, self.theirs / self.capacity) if self.capacity else 0.0

    def stolen_share(self):
        return self.stolen / self.capacity if self.capacity else 0.0


def core_of(cpu):
    siblings = read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").decode().strip()
    return siblings or str(cpu)


def choose():
    """A CPU for the server and one of another core for the client, of those that are allowed."""
    allowed = sorted(os.sched_getaffinity(0))
    for client in allowed[1:]:
        if core_of(client) != core_of(allowed[0]):
            return allowed[0], client
    raise SystemExit("a bench needs two CPUs, one for the server and one for the client; this process may use "
                     f"{len(allowed)} (taskset, or the container's cpuset)")
