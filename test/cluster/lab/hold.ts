import { startLab } from './lab';
import { ensurePrograms } from './programs';

/** `hold.ts NAME`: starts a lab, prints its folder, and owns it until this process ends, however it does. */
async function main(name: string): Promise<void> {
  const programs = await ensurePrograms((line) => process.stderr.write(`${line}\n`));
  const { folder } = await startLab({ name, programs, until: 'owner' });
  process.stdout.write(`${folder}\n`);
}

main(process.argv[2] ?? 'held').catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
