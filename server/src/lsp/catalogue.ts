import { decodeText } from '../files/text';
import { useCatalogue } from '../sizing/nodes/instances';
import { catalogueFile, readCatalogue } from '../sizing/nodes/refreshed';
import type { FileSystem } from './environment';
import type { Log } from './guard';
import { joinPath } from './uris';

/** Takes the refreshed catalogue of instance types of the first folder that has one, before anything looks at them. */
export async function takeCatalogue(folders: readonly string[], fs: FileSystem, log: Log): Promise<void> {
  for (const folder of folders) {
    let bytes: Uint8Array;
    const path = joinPath(folder, catalogueFile);
    try {
      bytes = await fs.readFile(path);
    } catch {
      // Most folders have none.
      continue;
    }
    const decoded = decodeText(Buffer.from(bytes));
    const source = 'problem' in decoded ? decoded : readCatalogue(decoded.text);
    if ('problem' in source) {
      log.warn(`${path}: ${source.problem}; the instance types that are shipped are used`);
    } else if (!useCatalogue(source)) {
      log.warn(`${path} was changed while the server runs; restart the server to use it`);
    } else {
      log.info(`Instance types and prices: ${path}, ${source.prices.date}`);
    }
    return;
  }
}
