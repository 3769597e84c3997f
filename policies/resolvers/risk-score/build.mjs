// Makes the component: node build.mjs <the folder with wit/> <file to write>
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { componentize } from '@bytecodealliance/componentize-js';

const [wit, out] = process.argv.slice(2);
const { component } = await componentize({
  sourcePath: fileURLToPath(new URL('resolver.mjs', import.meta.url)),
  witPath: wit,
  worldName: 'guest',
  // Whatever a resolver does not use is not imported, and what it does not import it cannot do.
  disableFeatures: ['random', 'stdio', 'clocks', 'http', 'fetch-event'],
});
await writeFile(out, component);
