# SPDX-License-Identifier: GPL-3.0-or-later
{
  lib,
  stdenv,
  pkg-config,
  libuv,
  libyaml,
  sqlite,
  gsl,
  jansson,
  pcre2,
  zlib,
  nettle,
  libmicrohttpd,
  curl,
  openblasCompat,
}:

stdenv.mkDerivation {
  pname = "smtune";
  version = "0.1.0";
  src = lib.cleanSource ../..;

  nativeBuildInputs = [ pkg-config ];
  buildInputs = [
    libuv
    libyaml
    sqlite
    gsl
    jansson
    pcre2
    zlib
    nettle
    libmicrohttpd
    curl
    openblasCompat
  ];

  postPatch = "patchShebangs .";
  makeFlags = [
    "PREFIX=${placeholder "out"}"
    "CUDA=no"
    "MPI=no"
  ];
  enableParallelBuilding = true;

  # smtune loads these when it needs them first.
  postFixup = ''
    patchelf --add-rpath ${
      lib.makeLibraryPath [
        curl
        gsl
        openblasCompat
      ]
    } $out/bin/smtune
  '';

  meta = {
    description = "Tuning of hyperparameters and workflows, locally or on Slurm";
    license = with lib.licenses; [
      gpl3Plus
      mit
    ];
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
    mainProgram = "smtune";
  };
}
