# Sourced by scripts that start programs and measure them; not a command of its own.
# Leaves a scratch folder in "work", and ends what was started, however the script ends.
# shellcheck shell=bash

work=$(mktemp -d)
stop() {
  # shellcheck disable=SC2046 # process ids, or none
  kill $(jobs -p) 2>/dev/null || true
  wait
  rm -rf "$work"
}
# Whatever ends this command ends all its jobs, whoever started them; the client is one too, so that a signal need not wait for it.
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start NAME COMMAND...: in the background, its output in a log; its process id in "started".
start() {
  local log=$work/$1.log
  note "starting $1: ${*:2}"
  "${@:2}" >"$log" 2>&1 &
  started=$!
}
# pause SECONDS: a signal need not wait for it.
pause() {
  sleep "$1" &
  wait "$!"
}
# until_ready NAME COMMAND...: waits until it succeeds. Shows the log of NAME, the process started last, when it ends or takes too long.
until_ready() {
  local tries
  for ((tries = 0; tries < 1800; tries++)); do
    if "${@:2}" >/dev/null 2>&1; then return; fi
    kill -0 "$started" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/$1.log" >&2
  fail "$1 did not get ready"
}
is_open() { (: <"/dev/tcp/127.0.0.1/$1"); }
is_ready() { curl -sf --noproxy '*' --max-time 5 "http://127.0.0.1:$1/readyz"; }

# free_port: leaves in "port" one that nobody listens on, from below the range that connections get theirs from. Never the same twice.
used=" "
free_port() {
  port=$((10000 + RANDOM % 20000))
  while [[ $used == *" $port "* ]] || is_open "$port" 2>/dev/null; do port=$((10000 + RANDOM % 20000)); done
  used+="$port "
}

# round_robin: the bootstrap of hack/envoy (stdin) without the picker: no ext_proc filter, and a round-robin cluster of the servers at "ports".
round_robin() {
  awk '/- name: envoy.filters.http.ext_proc/ { skip = 1; filters++ } /- name: envoy.filters.http.router/ { skip = 0 }
    /^  clusters:/ { clusters++; exit } !skip
    END { if (filters != 1 || clusters != 1) { print "expected one ext_proc filter, then clusters" > "/dev/stderr"; exit 1 } }'
  cat <<'YAML'
  clusters:
  - name: endpoints
    type: STATIC
    lb_policy: ROUND_ROBIN
    connect_timeout: 1s
    circuit_breakers: {thresholds: [{max_connections: 65536, max_pending_requests: 65536, max_requests: 65536}]}
    load_assignment:
      cluster_name: endpoints
      endpoints:
      - lb_endpoints:
YAML
  printf '        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %s}}}\n' "${ports[@]}"
}
