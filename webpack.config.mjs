// @ts-check
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EsbuildPlugin } from 'esbuild-loader';
import webpack from 'webpack';

const root = import.meta.dirname;
const dist = path.join(root, 'dist');

/** Licence texts of the packages found in any bundle; shared by all configurations of one build. */
const bundledPackages = new Map();

/** Packages whose texts are in `dist/schemas`; see `schemas/build`. */
const schemaPackages = [
  'kubernetes-models',
  '@kubernetes-models/apimachinery',
  '@kubernetes-models/argo-rollouts',
  '@kubernetes-models/karpenter',
  '@kubernetes-models/keda',
  '@kubernetes-models/prometheus-operator',
];

/** The packages are made from these, and so are the descriptions of fields that the schemas hold. */
const schemaSources =
  'The schemas in schemas/ hold field descriptions of Kubernetes, Karpenter, KEDA, Prometheus Operator and Argo\n' +
  'Rollouts, each under the Apache License 2.0 (https://www.apache.org/licenses/LICENSE-2.0).\n';

/** Writes `THIRD-PARTY-NOTICES.txt`: the licences of the packages whose code is in the bundles. */
class NoticesPlugin {
  /** @param {import('webpack').Compiler} compiler */
  apply(compiler) {
    compiler.hooks.afterEmit.tap('notices', (compilation) => {
      for (const module of compilation.modules) {
        const inner = /** @type {{ modules?: Iterable<import('webpack').Module> }} */ (module).modules;
        for (const each of inner ?? [module]) {
          const resource = /** @type {{ resource?: string }} */ (each).resource;
          const folder = resource === undefined ? undefined : packageFolder(resource);
          if (folder !== undefined && !bundledPackages.has(folder))
            bundledPackages.set(folder, notice(folder));
        }
      }
      for (const name of schemaPackages) {
        const folder = path.join(root, 'node_modules', name);
        if (!bundledPackages.has(folder)) bundledPackages.set(folder, notice(folder));
      }
      const notices = [...[...new Set(bundledPackages.values())].sort(), schemaSources];
      const text = notices.join(`\n${'-'.repeat(78)}\n\n`);
      mkdirSync(dist, { recursive: true });
      writeFileSync(path.join(dist, 'THIRD-PARTY-NOTICES.txt'), text);
    });
  }
}

/** What Node 20, VS Code 1.100 and its webviews all understand. */
const target = 'es2022';

const sources = ['rules', 'engine/docs'].map((each) => path.join(root, 'server', 'src', each));

/** @param {string} file */
function packageFolder(file) {
  const match = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file);
  return match?.[1];
}

/** @param {string} folder */
function notice(folder) {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const licence = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  const text = licence === undefined ? '' : readFileSync(path.join(folder, licence), 'utf8').trim();
  return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text}\n`;
}

/**
 * Copies the documentation of the rules, `server/src/rules/<area>/<id>.md`, and of the engine's own checks,
 * `server/src/engine/docs/<id>.md`, to `dist/rules/<id>.md`.
 */
class RuleDocumentationPlugin {
  /** @param {import('webpack').Compiler} compiler */
  apply(compiler) {
    compiler.hooks.thisCompilation.tap('rule documentation', (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: 'rule documentation', stage: webpack.Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL },
        () => {
          for (const file of sources.flatMap(pages)) {
            compilation.fileDependencies.add(file);
            compilation.emitAsset(
              `rules/${path.basename(file)}`,
              new webpack.sources.RawSource(shippedPage(file)),
            );
          }
          for (const source of sources) compilation.contextDependencies.add(source);
        },
      );
    });
  }
}

/**
 * A page as it is shipped: its relative links lead from `dist/rules/`, and its examples, which the sources mark for
 * the tests as ```` ```yaml wrong ````, say in the text which they are, since a preview does not show the mark.
 *
 * @param {string} file
 */
function shippedPage(file) {
  return readFileSync(file, 'utf8')
    .replace(/(\]\(|^\[[^\]]+\]: )(\.{1,2}\/[^)#\s]+)/gm, (_, before, link) => {
      const target = path.resolve(path.dirname(file), link);
      const isPage = sources.some((each) => target.startsWith(each + path.sep)) && target.endsWith('.md');
      const shipped = isPage ? path.basename(target) : path.relative(path.join(dist, 'rules'), target);
      return `${before}${shipped.split(path.sep).join('/')}`;
    })
    .replace(
      /^```yaml (wrong|right)\b.*$/gm,
      (_, mark) => `${mark === 'wrong' ? 'Wrong:' : 'Right:'}\n\n\`\`\`yaml`,
    );
}

/** @param {string} folder */
function pages(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String).sort();
  return names.filter((name) => name.endsWith('.md')).map((name) => path.join(folder, name));
}

/** Writes `webview.css`: the chart library's style sheet, then ours. */
class StyleSheetPlugin {
  /** @param {import('webpack').Compiler} compiler */
  apply(compiler) {
    const files = ['node_modules/uplot/dist/uPlot.min.css', 'client/webview/style.css'].map((each) =>
      path.join(root, each),
    );
    compiler.hooks.thisCompilation.tap('style sheet', (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: 'style sheet', stage: webpack.Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL },
        () => {
          for (const file of files) compilation.fileDependencies.add(file);
          const text = files.map((file) => readFileSync(file, 'utf8').trim()).join('\n');
          compilation.emitAsset('webview.css', new webpack.sources.RawSource(`${text}\n`));
        },
      );
    });
  }
}

/** Sets the executable bits, which npm keeps when it packs a `bin` file. */
class ExecutablePlugin {
  /** @param {string} file */
  constructor(file) {
    this.file = path.join(dist, file);
  }

  /** @param {import('webpack').Compiler} compiler */
  apply(compiler) {
    compiler.hooks.afterEmit.tap('executable', () => chmodSync(this.file, 0o755));
  }
}

/**
 * @param {string} name
 * @param {string} entry
 * @param {string} project
 * @param {boolean} production
 * @param {number} files over how many files the bundle is spread: one, or a second one `<name>-main.js` with what is imported
 *   later
 * @returns {import('webpack').Configuration}
 */
function bundle(name, entry, project, production, files = 1) {
  return {
    name,
    target: 'node20',
    mode: production ? 'production' : 'development',
    devtool: production ? false : 'source-map',
    context: root,
    entry: { [name]: entry },
    output: {
      path: dist,
      filename: '[name].js',
      chunkFilename: `${name}-main.js`,
      library: { type: 'commonjs2' },
    },
    resolve: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      alias: {
        // Its other form loads its parts in a way that cannot be bundled.
        'vscode-languageserver-types$': path.join(
          root,
          'node_modules/vscode-languageserver-types/lib/esm/main.js',
        ),
        // yaml-language-server formats with it; we never do.
        prettier: false,
      },
    },
    // `__filename` is the bundle itself: the command line starts its worker threads from it.
    node: { __dirname: false, __filename: false },
    module: {
      rules: [
        {
          test: /\.tsx?$/,
          loader: 'esbuild-loader',
          options: { target, tsconfig: path.join(root, project, 'tsconfig.json') },
        },
      ],
    },
    optimization: {
      minimizer: [
        new EsbuildPlugin({
          target,
          legalComments: 'none',
          // A package that a bundle holds compares with -0; what it means is its own affair.
          logOverride: { 'equals-negative-zero': 'silent' },
        }),
      ],
    },
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: files }), new NoticesPlugin()],
    performance: { hints: false },
    stats: {
      preset: 'errors-warnings',
      assets: production,
      modules: false,
      excludeAssets: /^rules\//,
      timings: true,
    },
    infrastructureLogging: { level: 'warn' },
  };
}

/**
 * Clients of clusters and of AWS, bundles of their own: what asks neither does not read them. By the name of the file
 * below `server/src/sources/sdk/`, which is loaded with `import()`.
 */
const clients = { kubernetes: 'kubernetes-client', aws: 'aws-clients' };

/** @param {boolean} production */
function clientBundles(production) {
  return Object.entries(clients).map(([file, name]) => {
    const configuration = bundle(name, `./server/src/sources/sdk/${file}.ts`, 'server', production);
    // Its files import each other by the hundred, for what is not used here.
    configuration.module?.rules?.push({ test: /[\\/]@kubernetes[\\/]client-node[\\/]/, sideEffects: false });
    return configuration;
  });
}

/**
 * @param {{ request?: string }} asked
 * @param {(error?: null | Error, result?: string) => void} callback
 */
const clientsApart = ({ request }, callback) => {
  const file = /^\.\/sdk\/(\w+)$/.exec(request ?? '')?.[1];
  const name = Object.entries(clients).find(([key]) => key === file)?.[1];
  if (name === undefined) callback();
  else callback(undefined, `commonjs ./${name}.js`);
};

/**
 * The page of the live panel: one script and one style sheet, for a browser.
 *
 * @param {boolean} production
 */
function webview(production) {
  const configuration = bundle('webview', './client/webview/main.tsx', 'client/webview', production);
  configuration.target = ['web', target];
  configuration.output = { path: dist, filename: '[name].js', iife: true };
  configuration.plugins?.push(new StyleSheetPlugin());
  return configuration;
}

/** The editor tests' suite, `--env e2e`: one file that the extension host loads. It is not shipped. */
function suite() {
  const configuration = bundle('suite', './test/e2e/suite/index.ts', 'test', false);
  configuration.output = { ...configuration.output, path: path.join(root, 'out', 'e2e') };
  configuration.externals = { vscode: 'commonjs vscode' };
  configuration.plugins = [];
  return configuration;
}

/**
 * @param {{ e2e?: boolean }} environment
 * @param {{ mode?: string }} argv
 */
export default (environment, argv) => {
  const production = argv.mode !== 'development';
  if (environment.e2e) return suite();

  const client = bundle('client', './client/src/extension.ts', 'client', production);
  client.externals = { vscode: 'commonjs vscode' };
  // The page of a rule that is gone must go too.
  client.output = {
    ...client.output,
    clean: {
      keep: /^(?:(?:server|cli|cli-main|remote|kubernetes-client|aws-clients)\.js|webview\.|schemas(?:\/|$)|THIRD-PARTY-NOTICES)/,
    },
  };
  client.plugins?.push(new RuleDocumentationPlugin());

  const server = bundle('server', './server/src/lsp/main.ts', 'server', production);
  server.externals = clientsApart;

  // What answers `--version` is not read together with all the rest.
  const cli = bundle('cli', './server/src/cli/main.ts', 'server', production, 2);
  // What is read over the network is loaded when it is asked for: most runs ask for nothing.
  cli.externals = [
    ({ request }, callback) =>
      /\/remote\/index$/.test(request ?? '') ? callback(undefined, 'commonjs ./remote.js') : callback(),
    clientsApart,
  ];
  cli.plugins?.push(
    new webpack.BannerPlugin({ banner: '#!/usr/bin/env node', raw: true }),
    new ExecutablePlugin('cli.js'),
  );

  const remote = bundle('remote', './server/src/remote/index.ts', 'server', production);

  return [client, server, cli, remote, webview(production), ...clientBundles(production)];
};
