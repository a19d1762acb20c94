import { besideModels } from './data-beside';
import { expertsModels } from './data-experts';
import { googleModels } from './data-google';
import { llamaModels } from './data-llama';
import { mistralModels } from './data-mistral';
import { othersModels } from './data-others';
import { qwenModels } from './data-qwen';
import type { ModelSpec } from './types';

/** Every model that the product knows by name. */
export const modelCatalogue: readonly ModelSpec[] = [
  ...llamaModels,
  ...mistralModels,
  ...qwenModels,
  ...googleModels,
  ...expertsModels,
  ...othersModels,
  ...besideModels,
];
