# Sourced by scripts that run the examples of external schedulers; not a command of its own. Needs what hack/fairlead builds.
# Leaves in "python" an interpreter with grpcio and the protocol's classes, and in "python_scheduler" and "java_scheduler" how each example is
# started: where to listen comes after that.
# shellcheck shell=bash

# Debian's python3 has the module venv without what it needs.
python3 -c 'import ensurepip, venv' 2>/dev/null || need /usr/share/doc/python3-venv:python3-venv
schedulers=$ROOT/e2e/schedulers
venv=$ROOT/target/schedulers
python=$venv/bin/python
cmp -s "$schedulers/requirements.txt" "$venv/installed.txt" || {
  note "installing grpcio"
  rm -rf "$venv"
  mkdir -p "${venv%/*}"
  python3 -m venv "$venv"
  "$python" -m pip install -q --disable-pip-version-check --no-cache-dir --only-binary :all: --require-hashes -r "$schedulers/requirements.txt" >&2 ||
    fail "pip could not install $schedulers/requirements.txt"
  cp "$schedulers/requirements.txt" "$venv/installed.txt"
}
protocol=$ROOT/dataplane/scheduler-api/src/main/proto/fairlead/scheduler/v1
mkdir -p "$venv/protocol"
"$python" -m grpc_tools.protoc -I "$protocol" --python_out="$venv/protocol" --grpc_python_out="$venv/protocol" "$protocol/scheduler.proto" ||
  fail "grpc_tools.protoc could not read $protocol/scheduler.proto"
export PYTHONPATH=$venv/protocol PYTHONDONTWRITEBYTECODE=1

# shellcheck disable=SC2034 # used by the scripts
python_scheduler=("$python" "$schedulers/scheduler.py")
# shellcheck disable=SC2034
java_scheduler=("$JAVA_HOME/bin/java" -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -cp
  "$(class_path dataplane/scheduler-example):$(class_path dataplane/cli)" io.fairlead.scheduler.example.ExampleScheduler)
