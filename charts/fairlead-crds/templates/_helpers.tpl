{{- define "fairlead-crds.labels" -}}
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
{{- define "fairlead-crds.decorated" -}}
{{- $root := index . 0 }}
{{- $object := index . 1 }}
{{- $metadata := $object.metadata }}
{{- $labels := merge (include "fairlead-crds.labels" $root | fromYaml) (default dict $metadata.labels) }}
{{- $annotations := merge (deepCopy (index . 2)) $root.Values.commonAnnotations (default dict $metadata.annotations) }}
{{- $_ := set $metadata "labels" $labels }}
{{- if $annotations }}{{ $_ := set $metadata "annotations" $annotations }}{{ end }}
{{- toYaml $object }}
{{- end }}
