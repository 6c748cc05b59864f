# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests mount."""

import ctypes
import functools
import os
import subprocess

CLONE_NEWNS = 0x00020000


@functools.cache
def own_mounts():
    """From now on what this process mounts is seen by what it starts alone, and
    is in no copy of the mounts that another process makes: such a copy keeps a
    disk that is unmounted here."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
