/**
 * The VersionTag and tags of every reading (R-D3, §9.2): the reading's version wins over the element's; the reading's
 * tags add to the element's and never replace one. Each different pair is kept once.
 */
import { type Labels, type Tags, toLabels } from '../../points/label-rules.ts';

export interface GivenLabels {
  readonly version?: string;
  readonly tags?: Tags;
}

export class LabelTable {
  readonly table: Labels[] = [];
  readonly #places = new Map<string, number>();

  /** The place of the labels of a reading in `table`; without the reading's, those of readings that have none of their own. */
  placeOf(element: GivenLabels, reading?: GivenLabels): number {
    const labels = toLabels(reading?.version ?? element.version, { ...reading?.tags, ...element.tags });
    const key = JSON.stringify([labels.version, labels.tags]);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.table.push(labels) - 1;
    this.#places.set(key, place);
    return place;
  }
}
