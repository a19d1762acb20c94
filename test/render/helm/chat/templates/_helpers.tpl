{{- define "chat.labels" -}}
app: {{ .Chart.Name }}
{{- end }}
