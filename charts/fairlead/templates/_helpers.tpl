{{- define "fairlead.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
app.kubernetes.io/part-of: fairlead
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* An object of a file as it stands there, with the chart's labels and with annotations: (list $ OBJECT ANNOTATIONS). */}}
{{- define "fairlead.decorated" -}}
{{- $root := index . 0 }}
{{- $object := index . 1 }}
{{- $metadata := $object.metadata }}
{{- $labels := merge (include "fairlead.labels" $root | fromYaml) (default dict $metadata.labels) }}
{{- $annotations := merge (deepCopy (index . 2)) $root.Values.commonAnnotations (default dict $metadata.annotations) }}
{{- $_ := set $metadata "labels" $labels }}
{{- if $annotations }}{{ $_ := set $metadata "annotations" $annotations }}{{ end }}
{{- toYaml $object }}
{{- end }}

{{/* The metadata of an object in the release's namespace, with more labels: (list $ NAME LABELS). */}}
{{- define "fairlead.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $root.Release.Namespace | quote }}
labels:
  {{- toYaml (merge (include "fairlead.labels" $root | fromYaml) (index . 2)) | nindent 2 }}
{{- with $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Named as Kustomize does: a digest goes before the tag. */}}
{{- define "fairlead.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end }}
{{- end }}

{{/* A quantity of a resource, such as 128Mi or 0.5, as a number. */}}
{{- define "fairlead.number" -}}
{{- $quantity := toString . }}
{{- $units := dict "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 0x1p10 "Mi" 0x1p20 "Gi" 0x1p30 "Ti" 0x1p40 "Pi" 0x1p50 "Ei" 0x1p60 }}
{{- $unit := regexFind "[mkMGTPE]i?$|Ki$" $quantity }}
{{- mulf (trimSuffix $unit $quantity | float64) (get $units $unit | default 1) }}
{{- end }}

{{/* What no schema can say of one field alone. */}}
{{- define "fairlead.check" -}}
{{- with .Values }}
{{- if and (eq .scope "namespace") .operator.watchNamespaces }}
{{- fail "operator.watchNamespaces: must be empty where scope is namespace: the operator serves the namespace of the release" }}
{{- end }}
{{- if and (eq .scope "namespace") .networkPolicies.pickerNamespaces }}
{{- fail "networkPolicies.pickerNamespaces: must be empty where scope is namespace: the policy is for the namespace of the release" }}
{{- end }}
{{- if and (eq .scope "namespace") .operator.metricsAuth }}
{{- fail "operator.metricsAuth: must be false where scope is namespace: who a token is, is a question to the whole cluster" }}
{{- end }}
{{- if and (eq (toString .operator.leaderElect) "false") (gt (int .operator.replicas) 1) }}
{{- fail (printf "operator.replicas: is %v, at most 1 is possible where operator.leaderElect is false: all would act at once" .operator.replicas) }}
{{- end }}
{{- $resources := default dict .operator.resources }}
{{- range $name, $limit := $resources.limits }}
{{- $request := get (default dict $resources.requests) $name }}
{{- if and $request (lt (include "fairlead.number" $limit | float64) (include "fairlead.number" $request | float64)) }}
{{- fail (printf "operator.resources.limits.%s: is %v, less than operator.resources.requests.%s, which is %v (by default, where you set none); raise the one or lower the other" $name $limit $name $request) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
