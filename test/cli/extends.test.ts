import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokenPod, folder, plimsoll } from './host';

describe('extends on the command line', () => {
  test('an npm package, from the folder of the configuration and not of the shell', async (t) => {
    const root = folder(t, {
      'repo/.plimsoll.yaml': 'extends: "@acme/plimsoll-config"\n',
      'repo/node_modules/@acme/plimsoll-config/plimsoll.yaml': 'extends: ./more.yaml\n',
      'repo/node_modules/@acme/plimsoll-config/more.yaml': 'rules: { request-above-limit: hint }\n',
      'repo/k8s/a.yaml': brokenPod,
      'else/a.txt': '',
    });
    const { code, stdout } = await plimsoll(`${root}/else`, ['lint', '../repo/k8s']);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /hint Container "app" requests/);
  });

  test('of a configuration that is named with --config', async (t) => {
    const root = folder(t, {
      'ci/strict.yaml': 'extends: ../shared.yaml\n',
      'shared.yaml': 'rules: { request-above-limit: off }\n',
      'a.yaml': brokenPod,
    });
    const { code } = await plimsoll(root, ['lint', '--config', 'ci/strict.yaml', 'a.yaml']);
    assert.equal(code, 0);
  });

  test('what is not there fails the run, and is shown on its place', async (t) => {
    const root = folder(t, {
      '.plimsoll.yaml': 'preset: minimal\nextends: [./no.yaml, acme]\n',
      'a.yaml': '',
    });
    const { code, stdout } = await plimsoll(root, ['lint']);
    assert.equal(code, 1);
    assert.match(stdout, /\.plimsoll\.yaml:2:11 error "\.\/no\.yaml" does not exist/);
    assert.match(stdout, /\.plimsoll\.yaml:2:22 error The package "acme" is in no node_modules folder/);
  });
});
