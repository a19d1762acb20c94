import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../../engine/config';
import { isMeantAsObject, lint } from '../../engine/run';
import { decodeText } from '../../files/text';
import { placeOfField } from '../../kube/field-path';
import type { ObjectRef } from '../../live/cluster';
import type { Comparison } from '../../live/comparison';
import { liveLookup } from '../../live/lookup';
import immutableFieldInUpdate from '../../rules/live/immutable-field-in-update';
import { createComparer, type Comparer } from '../../sources/compare';
import { mapLimited } from '../../sources/runtime';
import type { Workspace } from '../../workspace/workspace';
import type { PlacedDocument } from '../../yaml/document';
import { getIn, isMap, isSequence, itemsIn, textIn, type MapNode, type Span } from '../../yaml/node';
import { parseFile } from '../../yaml/parse';
import { isWhole, plainOf } from '../../yaml/plain';
import { UsageError, type DiffCommand } from '../arguments';
import { askCluster } from '../ask-cluster';
import { diffJson, diffText, type ComparedObject, type LeftOut, type Told } from '../formats/diff';
import type { Host } from '../host';
import { lineIndex } from '../line-index';
import { displayPath } from '../paths';
import { readWorkspace, tellBroken } from '../read-workspace';

/** Objects that are asked about at the same time. */
const atOnce = 4;

/** An object of a file that can be compared: nothing in it is only known later. */
interface Candidate {
  readonly uri: string;
  readonly placed: PlacedDocument;
  readonly root: MapNode;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** `plimsoll diff`: exit code 0 all is in the cluster as in the files, 1 it is not, 2 it cannot be told. */
export async function diffCommand(command: DiffCommand, host: Host): Promise<number> {
  const { workspace, asked, configFor, failed } = await read(command, host);
  const { candidates, leftOut } = candidatesIn(workspace, asked);
  return askCluster(command, host, async (cluster, signal) => {
    const client = await cluster.world.client();
    const namespace = command.namespace ?? client.context.namespace;
    const comparer = createComparer(client);
    if (candidates.length > 0) await comparer.reach(signal);
    const compared = await mapLimited(candidates, atOnce, async (candidate): Promise<ComparedObject> => {
      const comparison = await compare(comparer, candidate, namespace, signal);
      return { comparison, ...told(workspace, configFor, candidate, comparison, host) };
    });
    const all = {
      context: client.context.name,
      objects: compared,
      leftOut: leftOut.map((one) => placed(one, host)),
    };
    host.stdout.write(command.format === 'json' ? diffJson(all) : diffText(all));
    if (failed || compared.some(({ comparison }) => comparison.state === 'unknown')) return 2;
    return compared.some(({ comparison }) => comparison.state !== 'same') ? 1 : 0;
  });

  function placed({ uri, at, why }: Skipped, { cwd }: Host): LeftOut {
    const text = workspace.files.get(uri)?.text ?? '';
    return { path: displayPath(uri, cwd), line: lineIndex(text).regionOf(at).startLine, why };
  }
}

async function read(command: DiffCommand, host: Host): Promise<ReturnType<typeof readWorkspace>> {
  const { stdinFilename } = command;
  // Objects of every kind are compared, be there a rule for them or not.
  if (stdinFilename === undefined) return readWorkspace(command, host, isMeantAsObject);
  const path = resolve(host.cwd, stdinFilename);
  const decoded = decodeText(await host.readStdin());
  if ('problem' in decoded) throw new UsageError(`standard input ${decoded.problem}`);
  // The file on the disk, if there is one, is an older version; what stands around it says what it is.
  const around = readWorkspace({ ...command, paths: [existsSync(path) ? path : host.cwd] }, host);
  const uri = pathToFileURL(path).href;
  const file = parseFile(uri, decoded.text);
  const failed = tellBroken(file, path, host, isMeantAsObject);
  return { ...around, workspace: around.workspace.with(file), asked: [uri], failed };
}

interface Skipped {
  readonly uri: string;
  readonly at: Span;
  readonly why: string;
}

/** Objects that files hold as they are applied, and why others are left out. */
function candidatesIn(
  workspace: Workspace,
  uris: readonly string[],
): { readonly candidates: readonly Candidate[]; readonly leftOut: readonly Skipped[] } {
  const candidates: Candidate[] = [];
  const leftOut: Skipped[] = [];
  for (const uri of uris) {
    for (const placed of workspace.files.get(uri)?.documents ?? []) {
      const { root } = placed.document;
      if (!isMap(root)) continue;
      const role = workspace.roleOf(uri, placed);
      const skip = (node: MapNode, why: string): void =>
        void leftOut.push({ uri, at: shifted(getIn(node, 'kind') ?? node, placed.offset), why });
      // Said when the file was read.
      if (placed.document.problems.some(({ code }) => code !== 'duplicate-key')) continue;
      for (const node of objectsIn(root)) {
        const [apiVersion, kind] = [textIn(node, 'apiVersion'), textIn(node, 'kind')];
        if (apiVersion === undefined || kind === undefined) continue;
        // A file of Kustomize says what is applied, and is not.
        if (/^(kustomize|config)\.(config\.)?k8s\.io\//.test(apiVersion)) continue;
        const name = textIn(node, 'metadata', 'name');
        if (role === 'kustomize-patch') skip(node, 'it is a patch, of which only the whole is applied');
        else if (role === 'kustomize-base')
          skip(node, 'it is applied by way of a kustomization: compare what `kubectl kustomize` prints');
        else if (role === 'helm-template' || role === 'helm-values')
          skip(node, 'it is a template: compare what `helm template` prints');
        else if (kind === 'Secret' && apiVersion === 'v1') skip(node, 'Secrets are never read');
        else if (name === undefined) skip(node, 'it has no name, or one that is only known later');
        else if (!isWhole(node)) skip(node, 'parts of it are only known later');
        else
          candidates.push({
            uri,
            placed,
            root: node,
            apiVersion,
            kind,
            name,
            namespace: textIn(node, 'metadata', 'namespace'),
          });
      }
    }
  }
  return { candidates, leftOut };
}

function objectsIn(root: MapNode): readonly MapNode[] {
  const isList = (textIn(root, 'kind') ?? '').endsWith('List') && isSequence(getIn(root, 'items'));
  return isList ? itemsIn(root, 'items').filter(isMap) : [root];
}

function shifted({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}

function compare(
  comparer: Comparer,
  { root, apiVersion, kind, name, namespace }: Candidate,
  otherwise: string,
  signal: AbortSignal,
): Promise<Comparison> {
  const ref: ObjectRef = { apiVersion, kind, name, namespace: namespace ?? otherwise };
  return comparer.compare({ ref, object: plainOf(root) }, signal);
}

/** What is said of an object, with the places in its file. */
function told(
  workspace: Workspace,
  configFor: (uri: string) => Config,
  { uri, placed, root }: Candidate,
  comparison: Comparison,
  { cwd }: Host,
): Told {
  const lines = lineIndex(workspace.files.get(uri)?.text ?? '');
  const regionOf = (at: Span) => lines.regionOf(shifted(at, placed.offset));
  const findings = findingsOf(workspace, configFor, uri, comparison).map(
    ({ rule, severity, message, at }) => ({
      rule,
      severity,
      message,
      region: lines.regionOf(at),
    }),
  );
  const rejections = comparison.state === 'rejected' ? comparison.rejections : [];
  return {
    path: displayPath(uri, cwd),
    region: regionOf(getIn(root, 'metadata', 'name') ?? root),
    changes: (comparison.state === 'different' ? comparison.changes : []).map((change) => ({
      ...change,
      region: regionOf(placeOfField(root, change.field).at),
    })),
    findings,
    // The rule says the same more exactly: which field, and what both sides have.
    rejections: rejections
      .filter(({ message }) => findings.length === 0 || !saysImmutable.test(message))
      .map((rejection) => ({ ...rejection, region: regionOf(placeOfField(root, rejection.field).at) })),
  };
}

/** How the API server's validation and definitions' own rules say that a field cannot be changed. */
const saysImmutable = /immutable|updates to|(may|can) ?not be (changed|updated|less)|cannot (change|update)/i;

function findingsOf(
  workspace: Workspace,
  configFor: (uri: string) => Config,
  uri: string,
  comparison: Comparison,
) {
  const object = 'object' in comparison ? comparison.object : undefined;
  if (object === undefined) return [];
  const live = liveLookup([], [{ ref: comparison.ref, object }]);
  const { files } = lint(workspace, configFor, { uris: [uri], rules: [immutableFieldInUpdate], live });
  return files.flatMap(({ findings }) =>
    findings.filter(
      ({ resource, rule }) =>
        rule === immutableFieldInUpdate.id &&
        resource?.kind === comparison.ref.kind &&
        resource.name === comparison.ref.name,
    ),
  );
}
