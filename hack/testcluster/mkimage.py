#!/usr/bin/env python3
"""mkimage.py NAME OUT.tar [--entrypoint ARG[,ARG...]] --layer DEST=SOURCE... [--layer ...]

Writes a container image as an archive (docker-archive: "docker load", "ctr images import") from files, without an engine.
A layer lists files and folders by where they go; a layer of the same files is the same bytes wherever and whenever it is made, so
an engine that has it takes only the other layers. Symbolic links stay links, owners become root, times the epoch.
"""

import argparse
import hashlib
import io
import json
import os
import tarfile

EPOCH = "1970-01-01T00:00:00Z"


def entries(layer):
    """Every (name, source) of a layer, parents before children; source is None for a folder."""
    found = {}
    for item in layer:
        name, _, source = item.partition("=")
        name = name.strip("/")
        if os.path.isdir(source) and not os.path.islink(source):
            for folder, _, files in os.walk(source):
                inside = os.path.normpath(os.path.join(name, os.path.relpath(folder, source)))
                found.setdefault(inside, None)
                for file in files + [d for d in os.listdir(folder) if os.path.islink(os.path.join(folder, d))]:
                    found[os.path.join(inside, file)] = os.path.join(folder, file)
        else:
            found[name] = source
    for name in list(found):
        while "/" in name:
            name = name.rpartition("/")[0]
            found.setdefault(name, None)
    found.pop(".", None)
    return sorted(found.items())


def write_layer(layer, first):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        if first:
            tmp = tarfile.TarInfo("tmp")
            tmp.type, tmp.mode = tarfile.DIRTYPE, 0o1777
            tar.addfile(tmp)
        for name, source in entries(layer):
            info = tarfile.TarInfo(name)
            if source is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            elif os.path.islink(source):
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.readlink(source), 0o777
                tar.addfile(info)
            else:
                info.size = os.path.getsize(source)
                info.mode = 0o755 if os.access(source, os.X_OK) and os.stat(source).st_mode & 0o100 else 0o644
                with open(source, "rb") as file:
                    tar.addfile(info, file)
    return buffer.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("out")
    parser.add_argument("--entrypoint", default="", help="program and first arguments, separated by commas")
    parser.add_argument("--layer", action="append", nargs="+", required=True, metavar="DEST=SOURCE")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--user", default="", help="numeric user, or user:group")
    parser.add_argument("--architecture", default="amd64")
    arguments = parser.parse_args()

    layers = [write_layer(layer, index == 0) for index, layer in enumerate(arguments.layer)]
    digests = [hashlib.sha256(layer).hexdigest() for layer in layers]
    config = {
        "architecture": arguments.architecture,
        "os": "linux",
        "created": EPOCH,
        "config": {
            "Entrypoint": arguments.entrypoint.split(",") if arguments.entrypoint else [],
            "Env": ["PATH=/usr/bin:/bin"] + arguments.env,
            "Labels": dict(label.split("=", 1) for label in arguments.label),
            "User": arguments.user,
            "WorkingDir": "/",
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest for digest in digests]},
        "history": [{"created": EPOCH} for _ in layers],
    }
    config = json.dumps(config, sort_keys=True).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = [{"Config": config_name, "RepoTags": [arguments.name], "Layers": [digest + ".tar" for digest in digests]}]
    files = [(config_name, config), ("manifest.json", json.dumps(manifest).encode())]
    files += [(digest + ".tar", layer) for digest, layer in zip(digests, layers)]
    with tarfile.open(arguments.out + ".part", "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            archive.addfile(info, io.BytesIO(content))
    os.replace(arguments.out + ".part", arguments.out)


if __name__ == "__main__":
    main()
