import type { ModelsInfo as Info } from '../../protocols/own/models';

/** The answer of `GET /info` of a directory of models. */
export type ModelsInfo = Info;
export type ListedModel = Info['models'][number];
