/**
 * VersionTag (member `version`) and tags of every reading (R-D3, §9.2). The `version` of a reading overrides the
 * `version` of its element. The tags of a reading are added to the tags of its element; a reading cannot replace a tag
 * of its element. Each distinct combination of VersionTag and tags is stored once.
 */
import { type Labels, type Tags, toLabels } from '../../points/label-rules.ts';

export interface GivenLabels {
  readonly version?: string;
  readonly tags?: Tags;
}

export class LabelTable {
  readonly table: Labels[] = [];
  readonly #indexes = new Map<string, number>();

  /**
   * @param reading the labels of the reading itself; undefined when the reading has no labels of its own.
   * @returns the index that the resulting labels have in `table`.
   */
  indexOf(element: GivenLabels, reading?: GivenLabels): number {
    const labels = toLabels(reading?.version ?? element.version, { ...reading?.tags, ...element.tags });
    const key = JSON.stringify([labels.version, labels.tags]);
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.table.push(labels) - 1;
    this.#indexes.set(key, index);
    return index;
  }
}
