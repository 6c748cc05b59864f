# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine with GPUs, by the files of its driver, in a namespace of mounts:
needs root."""

import subprocess

WITH_GPUS = """
mkdir -p dev
mount -t tmpfs none dev
for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
done
for number in $(seq 0 $(($1 - 1))); do touch dev/nvidia$number; done
ln -s /proc/self/fd dev/fd
mkdir dev/shm dev/pts
mount --rbind dev /dev
shift
exec "$@"
"""


def write_nvidia_smi(smtune, text):
    """A program of this name in front of smtune's PATH."""
    path = smtune.directory / "bin/nvidia-smi"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    smtune.env["PATH"] = f"{path.parent}:{smtune.env['PATH']}"


def run_on_gpus(smtune, count, *words):
    """The result of smtune on a machine with so many."""
    return subprocess.run(
        ["unshare", "--mount", "sh", "-ec", WITH_GPUS, "sh", str(count),
         "smtune", *map(str, words)], env=smtune.environment(), cwd=smtune.directory,
        capture_output=True, text=True, timeout=60, check=False)
