#!/usr/bin/env bash
# pki.sh DIR [SANS]: one CA, the API server's certificate, and a client certificate and kubeconfig for each program.
# SANS are more names of the API server: ",DNS:here,IP:192.0.2.7". Settings: NODE (the node's name), URL (of the API server).
set -euo pipefail
: "${NODE:?}" "${URL:?}"
mkdir -p "$1"
cd "$1"
umask 077

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

sign() { # NAME SUBJECT EXTENSIONS
  key "$1"
  openssl req -new -key "$1.key" -subj "$2" 2>/dev/null |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile <(echo "$3") -out "$1.crt" 2>/dev/null
}

kubeconfig() { # NAME SUBJECT
  sign "$1" "$2" "extendedKeyUsage=clientAuth"
  cat >"$1.kubeconfig" <<Y
apiVersion: v1
kind: Config
clusters: [{name: default, cluster: {server: "$URL", certificate-authority-data: $(base64 -w0 <ca.crt)}}]
users: [{name: default, user: {client-certificate-data: $(base64 -w0 <"$1.crt"), client-key-data: $(base64 -w0 <"$1.key")}}]
contexts: [{name: default, context: {cluster: default, user: default}}]
current-context: default
Y
}

key ca
openssl req -x509 -new -key ca.key -days 3650 -subj /CN=fairlead-testcluster -out ca.crt 2>/dev/null
sign apiserver /CN=kube-apiserver "extendedKeyUsage=serverAuth
subjectAltName=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1,IP:10.96.0.1${2:-}"
openssl genrsa -out sa.key 2048 2>/dev/null
openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
kubeconfig admin /O=system:masters/CN=admin
kubeconfig controller-manager /CN=system:kube-controller-manager
kubeconfig scheduler /CN=system:kube-scheduler
kubeconfig kubelet "/O=system:nodes/CN=system:node:$NODE"
kubeconfig proxy /CN=system:kube-proxy
