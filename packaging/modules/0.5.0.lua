-- An Lmod module file: as foretrain/0.5.0.lua in a folder of MODULEPATH, with `root` where `cmake --install build/release --prefix` put it.
help([[foretrain predicts how long a training epoch takes on N GPUs, and where more of them stop paying: foretrain predict --help]])
whatis("Name: foretrain")
whatis("Version: 0.5.0")
whatis("Description: predicts training time on GPU clusters and where more GPUs stop paying")

local root = "/opt/foretrain/0.5.0"
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
