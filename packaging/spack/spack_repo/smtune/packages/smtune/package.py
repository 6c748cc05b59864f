# SPDX-License-Identifier: GPL-3.0-or-later
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Smtune(MakefilePackage):
    """Tuning of hyperparameters and workflows, locally or on Slurm. It is built
    from a clone: `spack dev-build smtune@VERSION` in its folder."""

    license("GPL-3.0-or-later AND MIT")

    version("0.1.0")

    variant("mpi", default=False, description="MPI in smtrain")
    variant("cuda", default=False, description="the CUDA backend of smtrain")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libuv@1.24:")
    depends_on("libyaml@0.1.7:")
    depends_on("sqlite@3.26:")
    depends_on("gsl@2.5:")
    depends_on("jansson@2.11:")
    depends_on("pcre2@10.30:")
    depends_on("zlib@1.2.9:")
    depends_on("nettle@3.4:")
    depends_on("libmicrohttpd@0.9.59:")
    # Loaded at run time, by the path that Spack's compiler puts into programs.
    depends_on("curl")
    depends_on("openblas")
    depends_on("mpi", when="+mpi")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cuda@12:", when="+cuda")

    conflicts("platform=darwin", msg="smtune is for Linux")

    def options(self):
        parts = {part: "yes" if self.spec.satisfies(f"+{part}") else "no"
                 for part in ("cuda", "mpi")}
        return [f"PREFIX={self.prefix}", f"CC={spack_cc}",
                f"CUDA={parts['cuda']}", f"MPI={parts['mpi']}"]

    @property
    def build_targets(self):
        return ["all", *self.options()]

    @property
    def install_targets(self):
        return ["install", *self.options()]
