#!/usr/bin/env bash
# cluster.sh: a one-node Kubernetes cluster from programs that are already here. hack/cluster runs it on this machine, the node image that
# k3s-image makes inside a container.
#
#   up            etcd, API server, controller manager, scheduler; then containerd, kubelet, kube-proxy, CoreDNS
#   load TAR...   imports image archives into the node
#   status        says which programs run; fails when one does not
#   down          ends all of it by process id, and removes what it left in the kernel; what other tools have there stays
#
# Settings: DIR (state), KUBE (the program of hack/testcluster/kube), PORT (API), NODE, IP, CGROOT (the node's cgroup),
# SANS (more names of the API server, such as ",DNS:here"), IMAGES (archives to load before pods start).
#
# One at a time in a network namespace: bridge, pod range 10.244.0.0/24, service range 10.96.0.0/16 and ports are fixed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${DIR:?}" "${KUBE:?}"
PORT=${PORT:-6443} NODE=${NODE:-node0} CGROOT=${CGROOT:-/} SANS=${SANS:-} IMAGES=${IMAGES:-}
# The address that a way out would have; no packet is sent to 192.0.2.1, which is nobody's.
IP=${IP:-$(ip -4 -o route get 192.0.2.1 2>/dev/null | sed -n 's/.* src \([0-9.]*\).*/\1/p')}
IP=${IP:-127.0.0.1}
PKI=$DIR/pki
SOCKET=$DIR/run/containerd.sock
# The name of the pod network: CNI plugins write it beside what is theirs in the kernel.
NETWORK=fairlead
PROGRAMS="etcd apiserver controller-manager scheduler containerd kubelet proxy coredns"

kubectl() { "$KUBE" kubectl --kubeconfig "$PKI/admin.kubeconfig" "$@"; }
containers() { ctr -a "$SOCKET" -n k8s.io "$@"; }

# When a process began, in ticks since boot: with its id it names a process for good, an id alone may be somebody else's by now.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
running() { # PID BORN
  [ "$(born "$1")" = "$2" ] && ! grep -qs '^State:.[ZX]' "/proc/$1/status"
}

start() { # NAME COMMAND...
  local name=$1
  shift
  setsid "$@" >"$DIR/log/$name.log" 2>&1 </dev/null 8>&- &
  echo "$! $(born $!) $name" >>"$DIR/pids"
}

end() { # SIGNAL PID BORN
  running "$2" "$3" || return 0
  kill -"$1" "$2" 2>/dev/null || return 0
  local _
  for _ in $(seq 50); do
    running "$2" "$3" || return 0
    sleep 0.1
  done
  kill -9 "$2" 2>/dev/null || true
}

# until_ok WHAT COMMAND...: three minutes for COMMAND to succeed; a program of ours that ended is told at once.
until_ok() {
  local what=$1 _ dead
  shift
  for _ in $(seq 1800); do
    ! "$@" >/dev/null 2>&1 || return 0
    dead=$(not_running started)
    [ -z "$dead" ] || break
    sleep 0.1
  done
  echo "cluster.sh: $what did not come up${dead:+; ended: $dead}; the last lines of $DIR/log:" >&2
  tail -n 5 "$DIR"/log/*.log >&2
  return 1
}

# Names of programs that do not run: of all, or of those started.
not_running() {
  local pid since name alive="" started=""
  if [ -f "$DIR/pids" ]; then
    while read -r pid since name; do
      started+=" $name"
      ! running "$pid" "$since" || alive+=" $name "
    done <"$DIR/pids"
  fi
  [ "${1:-}" = started ] || started=$PROGRAMS
  for name in $started; do
    case $alive in *" $name "*) ;; *) echo "$name" ;; esac
  done
}

write_configs() {
  cat >"$DIR/containerd.toml" <<T
version = 2
root = "$DIR/containerd"
state = "$DIR/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "$SOCKET"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "fairlead.local/pause:1"
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$DIR/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "$here/runc-nosysres"
      SystemdCgroup = false
T
  # The firewall plugin opens FORWARD for pods where a Docker daemon has closed it.
  cat >"$DIR/cni/10-pods.conflist" <<T
{"cniVersion": "0.4.0", "name": "$NETWORK", "plugins": [
  {"type": "bridge", "bridge": "fairlead0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$DIR/run/ips"}},
  {"type": "portmap", "capabilities": {"portMappings": true}},
  {"type": "firewall"}]}
T
  cat >"$DIR/kubelet.yaml" <<T
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://$SOCKET
cgroupDriver: cgroupfs
cgroupRoot: $CGROOT
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
enforceNodeAllocatable: []
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
healthzPort: 0
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
T
  cat >"$DIR/proxy.yaml" <<T
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $PKI/proxy.kubeconfig}
hostnameOverride: $NODE
clusterCIDR: 10.244.0.0/16
mode: iptables
iptables: {minSyncPeriod: 100ms}
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
T
  cat >"$DIR/Corefile" <<T
.:10053 {
  bind $IP
  errors
  cache 5
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $PKI/admin.kubeconfig default
  }
}
T
}

up_control_plane() {
  mkdir -p "$DIR"/{log,run,cni}
  : >"$DIR/pids"
  [ -f "$PKI/ca.crt" ] || NODE=$NODE URL=https://127.0.0.1:$PORT "$here/pki.sh" "$PKI" ",IP:$IP$SANS"
  start etcd "$KUBE" etcd --data-dir "$DIR/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
    --listen-peer-urls http://127.0.0.1:12380 --initial-advertise-peer-urls http://127.0.0.1:12380 --initial-cluster default=http://127.0.0.1:12380
  start apiserver "$KUBE" kube-apiserver --etcd-servers=http://127.0.0.1:12379 --advertise-address="$IP" --secure-port="$PORT" \
    --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" \
    --service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC --allow-privileged=true \
    --kubelet-client-certificate="$PKI/admin.crt" --kubelet-client-key="$PKI/admin.key" --kubelet-preferred-address-types=InternalIP
  until_ok "the API server" kubectl get --raw /readyz
  start controller-manager "$KUBE" kube-controller-manager --leader-elect=false --kubeconfig="$PKI/controller-manager.kubeconfig" \
    --authentication-kubeconfig="$PKI/controller-manager.kubeconfig" --authorization-kubeconfig="$PKI/controller-manager.kubeconfig" \
    --service-account-private-key-file="$PKI/sa.key" --root-ca-file="$PKI/ca.crt" --use-service-account-credentials \
    --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" \
    --allocate-node-cidrs --cluster-cidr=10.244.0.0/16 --service-cluster-ip-range=10.96.0.0/16
  start scheduler "$KUBE" kube-scheduler --leader-elect=false --kubeconfig="$PKI/scheduler.kubeconfig" \
    --authentication-kubeconfig="$PKI/scheduler.kubeconfig" --authorization-kubeconfig="$PKI/scheduler.kubeconfig"
  until_ok "the controller manager" kubectl get serviceaccount default
}

up_node() {
  write_configs
  chains >"$DIR/chains.before"
  # What kubelet changes, to be put back by down.
  { sysctl kernel.panic kernel.panic_on_oops vm.overcommit_memory vm.panic_on_oom net.ipv4.ip_forward | sed 's/ = /=/'; } \
    >"$DIR/sysctl.before" 2>/dev/null || true
  start containerd containerd -c "$DIR/containerd.toml"
  until_ok containerd ctr -a "$SOCKET" version
  # The word splitting of IMAGES is meant: it is a list.
  # shellcheck disable=SC2086
  load $IMAGES
  start kubelet "$KUBE" kubelet --config="$DIR/kubelet.yaml" --kubeconfig="$PKI/kubelet.kubeconfig" --hostname-override="$NODE" \
    --node-ip="$IP" --root-dir="$DIR/kubelet" --cert-dir="$DIR/kubelet/pki"
  start proxy "$KUBE" kube-proxy --config="$DIR/proxy.yaml"
  start coredns "$KUBE" coredns -conf "$DIR/Corefile"
  # CoreDNS runs beside the cluster, not in it: a Service and the address make it the cluster's.
  kubectl apply -f - >/dev/null <<T
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: 10.96.0.10
  ports:
  - {name: dns, port: 53, protocol: UDP, targetPort: 10053}
  - {name: dns-tcp, port: 53, protocol: TCP, targetPort: 10053}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: kube-dns-host, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
addressType: IPv4
ports: [{name: dns, port: 10053, protocol: UDP}, {name: dns-tcp, port: 10053, protocol: TCP}]
endpoints: [{addresses: ["$IP"], conditions: {ready: true}}]
T
  until_ok "the node" kubectl wait --for=condition=Ready "node/$NODE" --timeout=1s
}

load() {
  local tar
  for tar; do containers images import "$tar" >/dev/null; done
}

status() {
  local dead
  dead=$(not_running)
  if [ -z "$dead" ]; then
    kubectl get node --no-headers
    return
  fi
  if [ "$(wc -w <<<"$dead")" = "$(wc -w <<<"$PROGRAMS")" ]; then
    echo "not running"
  else
    echo "broken; not running: $(xargs <<<"$dead")"
  fi
  return 1
}

# Every chain of the packet filter: FAMILY TABLE CHAIN.
chains() {
  local family table
  for family in iptables ip6tables; do
    for table in filter nat mangle; do
      "$family-save" -t "$table" 2>/dev/null | sed -n "s/^:\([^ ]*\) .*/$family $table \1/p" || true
    done
  done
}

# Removes the chains and rules that came with this cluster, and no others: KUBE- chains that were not there before it, the CNI chains of
# containers on its network, what the firewall plugin wrote for the addresses of its pods, and the CNI plugins' common chains when they
# were not there before and hold nothing else. One transaction a table, in which nothing else is touched.
remove_chains() {
  local family table addresses
  addresses=$(ls "$DIR/run/ips/$NETWORK" 2>/dev/null | grep -E '^[0-9.]+$' | xargs || true)
  for family in iptables ip6tables; do
    for table in filter nat mangle; do
      "$family-save" -t "$table" 2>/dev/null | awk -v key="$family $table " -v before="$DIR/chains.before" -v addresses="$addresses" \
        -v net="$NETWORK" '
        function target(rule) { return match(rule, / -[jg] [^ ]+/) ? substr(rule, RSTART + 4, RLENGTH - 4) : "" }
        BEGIN {
          network = "name: \\\"" net "\\\" "
          while ((getline line < before) > 0) old[line] = 1
          split(addresses, list, " ")
          for (i in list) pod[list[i] "/32"] = 1
        }
        /^:/ {
          chain = substr($1, 2)
          if (chain ~ /^KUBE-/ && !(key chain in old)) ours[chain] = 1
          if (chain ~ /^CNI-(FORWARD|ADMIN|HOSTPORT-[A-Z]+)$/ && !(key chain in old)) common[chain] = 1
        }
        /^-A / {
          rules[++count] = $0
          if (index($0, network) && target($0) ~ /^CNI-(DN-)?[0-9a-f]+$/) ours[target($0)] = 1
        }
        END {
          for (i = 1; i <= count; i++) {
            split(rules[i], word, " ")
            mine[i] = target(rules[i]) in ours || (word[2] == "CNI-FORWARD" && word[4] in pod)
            if (word[2] in common && !mine[i] && (word[2] != "CNI-FORWARD" || word[3] ~ /^-[sd]$/) && word[2] !~ /(SETMARK|MASQ)$/) others = 1
          }
          if (!others) for (chain in common) ours[chain] = 1
          for (i = 1; i <= count; i++) {
            split(rules[i], word, " ")
            if (!(word[2] in ours) && (mine[i] || target(rules[i]) in ours)) { sub(/^-A/, "-D", rules[i]); script = script rules[i] "\n" }
          }
          for (chain in ours) script = script "-F " chain "\n"
          for (chain in ours) script = script "-X " chain "\n"
          if (script != "") { split(key, word, " "); printf "*%s\n%sCOMMIT\n", word[2], script }
        }' | "$family-restore" --noflush || true
    done
  done
}

down() {
  local pid since name task
  [ -s "$DIR/pids" ] || return 0
  while read -r pid since name; do
    case $name in kubelet | proxy | coredns) end TERM "$pid" "$since" ;; esac
  done <"$DIR/pids"
  if [ -S "$SOCKET" ] && ctr -a "$SOCKET" version >/dev/null 2>&1; then
    for task in $(containers tasks ls -q); do containers tasks kill -s 9 "$task" || true; done >/dev/null 2>&1
    for task in $(containers tasks ls -q); do containers tasks rm -f "$task" || true; done >/dev/null 2>&1
  fi
  while read -r pid since name; do
    case $name in
      kubelet | proxy | coredns) ;;
      containerd) end TERM "$pid" "$since" ;;
      *) end KILL "$pid" "$since" ;;
    esac
  done <"$DIR/pids"
  : >"$DIR/pids"
  awk -v dir="$DIR/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n1 umount
  [ -f "$DIR/kubelet.yaml" ] || return 0
  local group
  ip link del fairlead0 2>/dev/null || true
  remove_chains
  for name in /var/lib/cni/results/"$NETWORK"-*-eth0; do
    [ -e "$name" ] || continue
    rm -f "$name"
    name=${name##*/"$NETWORK"-}
    rm -f "/var/lib/cni/results/cni-loopback-${name%-eth0}-lo"
  done
  for group in /sys/fs/cgroup/* /sys/fs/cgroup; do
    [ -d "$group$CGROOT/kubepods" ] && find "$group$CGROOT/kubepods" -depth -type d -exec rmdir {} \; 2>/dev/null || true
  done
  xargs -r -n1 sysctl -q -w <"$DIR/sysctl.before" || true
}

case ${1:-} in
  up)
    up_control_plane
    up_node
    echo "KUBECONFIG=$PKI/admin.kubeconfig"
    ;;
  load)
    shift
    load "$@"
    ;;
  status) status ;;
  down) down ;;
  *)
    awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"
    exit 2
    ;;
esac
