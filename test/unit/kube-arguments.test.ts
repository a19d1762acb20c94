import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLines, serverArguments, type ServerArguments } from '../../server/src/kube/arguments';
import type { Container } from '../../server/src/kube/containers';
import type { Setting } from '../../server/src/kube/settings';
import { containerOf, deployment } from './kube-support';

function lastArguments(container: Container): ServerArguments {
  const line = commandLines(container).at(-1);
  return serverArguments(line?.words ?? [], line?.open ?? false);
}

/** The value, and that its place is exactly its text. */
function say(container: Container, setting: Setting): string {
  if (setting.state !== 'known') return setting.state;
  const text = container.template.resource.placed.document.text.slice(setting.at.start, setting.at.end);
  return text === setting.text ? setting.value : `${setting.value} at ${JSON.stringify(text)}`;
}

function get(container: string, flag: string, ...aliases: string[]): string {
  const read = containerOf(deployment(container));
  return say(read, lastArguments(read).get(flag, aliases));
}

test('reads a list in every way that flags are written', () => {
  const list =
    'image: a\nargs: ["--model", "org/m", "--tensor-parallel-size=4", "--max_model_len", 8192, "--enforce-eager", "--seed=-1", "-tp", "2"]';
  assert.equal(get(list, 'model'), 'org/m');
  assert.equal(get(list, 'tensor-parallel-size'), '4');
  assert.equal(get(list, 'max-model-len'), '8192');
  assert.equal(get(list, 'enforce-eager'), ' at "--enforce-eager"');
  assert.equal(get(list, 'seed'), '-1');
  assert.equal(get(list, 'pipeline-parallel-size', 'pp'), 'absent');
  assert.equal(get(list, 'tensor_parallel_size'), '4');
});

test('the last of a repeated flag wins, under an alias too', () => {
  assert.equal(get('image: a\nargs: [--tp-size, "2", --tp=4]', 'tp-size', 'tp'), '4');
});

const script = `
image: a
command: ["/bin/bash", "-c"]
args:
  - |
    set -e  # vllm serve --tp 1
    export TP=4
    echo "vllm serve --tp 9"
    exec vllm serve 'org/My Model' \\
      --tensor-parallel-size "$TP" \\
      --max-model-len=\${MAX_LEN:-8192} \\
      --dtype "bfloat16" \\
      --port $(PORT) 2>&1 | tee /tmp/log
env:
  - {name: PORT, value: "8080"}
`;

test('reads a script with continuations, quotes, variables and redirections', () => {
  const container = containerOf(deployment(script));
  const lines = commandLines(container);
  assert.deepEqual(
    lines.map(({ words }) => words.map(({ text }) => text).join(' ')),
    [
      'set -e',
      'echo vllm serve --tp 9',
      'exec vllm serve org/My Model --tensor-parallel-size 4 --max-model-len=8192 --dtype bfloat16 --port 8080',
      'tee /tmp/log',
    ],
  );
  const args = serverArguments(lines[2]?.words ?? [], false);
  assert.equal(say(container, args.get('tensor-parallel-size')), '4');
  assert.equal(say(container, args.get('max-model-len')), '8192');
  assert.equal(say(container, args.get('dtype')), 'bfloat16');
  assert.equal(say(container, args.get('port')), '8080');
  const port = args.get('port');
  assert.ok(
    port.state === 'known' && port.node.text === '8080',
    'the place is that of the value of the variable',
  );
});

test('reads scripts in every scalar style', () => {
  const styles: readonly string[] = [
    'command: [sh, -c, "vllm serve m --tp 8"]',
    "command: [sh, -c, 'vllm serve m --tp 8']",
    'command: [sh, -c, "vllm serve m \\\n  --tp 8"]',
    'command: [sh, -c, vllm serve m --tp 8]',
    'command: [sh, -c]\nargs: ["vllm serve m --tp 8"]',
    'command:\n  - sh\n  - -c\n  - >-\n    vllm serve m\n    --tp 8',
    'command:\n  - sh\n  - -c\n  - >\n    vllm serve m \\\n    --tp 8 \\\n    --x',
    'command:\n  - sh\n  - -lc\n  - |\n    sleep 1 && vllm serve m --tp 8 &\n    wait',
    'command: ["/usr/bin/env", "bash", "-c", "cd /app; (vllm serve m --tp 8)"]',
    'command: [sh, -c]\nargs: ["if true; then vllm serve m --tp 8; fi"]',
  ];
  for (const style of styles) {
    const container = containerOf(deployment(`image: a\n${style}`));
    const line = commandLines(container).find(({ words }) => words.some(({ text }) => text === 'vllm'));
    const args = serverArguments(line?.words ?? [], false);
    assert.equal(say(container, args.get('tp')), '8', style);
  }
});

test('splits one item that holds a flag and its value, but no JSON', () => {
  assert.equal(
    get('image: a\nargs: ["--tensor-parallel-size 4", "--model org/m"]', 'tensor-parallel-size'),
    '4',
  );
  assert.equal(
    get('image: a\nargs: ["--model org/m --tensor-parallel-size 4"]', 'tensor-parallel-size'),
    '4',
  );
  assert.equal(get(`image: a\nargs: ['--config={"a": 1, "b": 2}']`, 'config'), '{"a": 1, "b": 2}');
  assert.equal(get('image: a\nargs: --model org/m --tp 4', 'tp'), '4');
});

test('references to variables of the container are resolved where they are literals', () => {
  const env = 'env: [{name: MODEL, value: org/m}, {name: TP, valueFrom: {fieldRef: {fieldPath: x}}}]';
  assert.equal(get(`image: a\nargs: ["--model=$(MODEL)"]\n${env}`, 'model'), 'org/m');
  assert.equal(
    get(`image: a\nargs: ["--model=s3://b/$(MODEL)"]\n${env}`, 'model'),
    's3://b/org/m at "s3://b/$(MODEL)"',
  );
  assert.equal(get(`image: a\nargs: ["--tp=$(TP)"]\n${env}`, 'tp'), 'unknown');
  assert.equal(get(`image: a\nargs: ["--tp=$(LWS_GROUP_SIZE)"]\n${env}`, 'tp'), 'unknown');
  assert.equal(get('image: a\nargs: ["--text=$$(MODEL)"]', 'text'), '$$(MODEL)');
  // No shell runs here, so that $MODEL is just text.
  assert.equal(get(`image: a\nargs: ["--model=$MODEL"]\n${env}`, 'model'), '$MODEL');
});

test('an unknown value of one flag leaves the others alone', () => {
  assert.equal(get('image: a\nargs: ["--tp={{ .Values.tp }}", --dtype=half]', 'tp'), 'unknown');
  assert.equal(get('image: a\nargs: ["--tp={{ .Values.tp }}", --dtype=half]', 'dtype'), 'half');
  assert.equal(get('image: a\nargs: ["--tp={{ .Values.tp }}", --dtype=half]', 'model'), 'absent');
  assert.equal(get('image: a\nargs: ["--tp=${TP}", --dtype=half]', 'tp'), 'unknown');
  const shell = 'image: a\ncommand: [sh, -c, "vllm serve m --tp $TP --dtype half"]';
  assert.equal(get(shell, 'tp'), 'unknown');
  assert.equal(get(shell, 'dtype'), 'half');
  assert.equal(get(shell, 'model'), 'absent');
});

test('words that can be any number of flags make what is not written unknown', () => {
  for (const more of ['$EXTRA_ARGS', '"$@"', '$(cat /args)', '`cat /args`', '--served-model-name $ARGS']) {
    const shell = `image: a\ncommand: [sh, -c, 'vllm serve m --tp 2 ${more}']`;
    assert.equal(get(shell, 'model'), 'unknown', more);
    assert.equal(get(shell, 'tp'), '2', more);
  }
  assert.equal(
    get('image: a\nargs:\n  - --tp=2\n  {{- range .Values.extraArgs }}\n  - {{ . }}\n  {{- end }}', 'model'),
    'unknown',
  );
  assert.equal(get('image: a\nargs:\n  {{- toYaml .Values.args | nindent 12 }}', 'tp'), 'unknown');
});

test('here documents, comments and nested substitutions hide no later command', () => {
  const container = containerOf(
    deployment(`
image: a
command:
  - bash
  - -c
  - |
    cat <<'EOF' > /tmp/x.py
    import vllm; vllm serve
    EOF
    IP=$(hostname -i | awk '{print $1}')
    vllm serve m --host "$IP" --tp 2
`),
  );
  const lines = commandLines(container).map(({ words }) =>
    words.map(({ text }) => text.replaceAll('\u0000', '?')).join(' '),
  );
  assert.deepEqual(lines, ['cat', 'vllm serve m --host ? --tp 2']);
});

test('no command and no arguments are no program', () => {
  assert.deepEqual(commandLines(containerOf(deployment('image: a'))), []);
  assert.deepEqual(commandLines(containerOf(deployment('image: a\nargs: []'))), []);
});

test('broken scripts end', () => {
  for (const text of [
    'vllm serve "m --tp 2',
    "vllm 'x",
    'a $(b (c',
    'a ${b',
    'a `b',
    'cat <<EOF',
    '\\',
    '$',
    '{{',
    '((((',
    '>',
    '2>&',
  ]) {
    const container = containerOf(deployment(`image: a\ncommand:\n  - sh\n  - -c\n  - |\n    ${text}`));
    assert.ok(Array.isArray(commandLines(container)), text);
  }
});
