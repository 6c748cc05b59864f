# SPDX-License-Identifier: GPL-3.0-or-later
# In a clone: nix build ./packaging/nix
{
  description = "smtune: tuning of hyperparameters and workflows, locally or on Slurm";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = nixpkgs.legacyPackages.${system}.callPackage ./package.nix { };
      });
    };
}
