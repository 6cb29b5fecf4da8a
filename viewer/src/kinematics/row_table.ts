/** Rows of a mechanism: chains of terms, each a factor times a measure between two bodies (kinematics, 13). */

import type { Table } from "../data/encoded";

export const ALONG = 0, DOT = 1, DISTANCE = 2;
export const KIND = 0, A = 1, B = 2, THEN = 3, TURNS = 4, INTEGERS = 5;
export const U = 0, V = 3, W = 6, PA = 9, PB = 12, OFFSET = 15, SCALE = 16, FACTOR = 17, ZERO = 18, NUMBERS = 19;
export const NONE = -1;

/** Columns of the tree of joints, one row per body. */
export const PARENT = 0, FIRST_ROW = 1, ROW_COUNT = 2, FIRST_FREE = 3, CHILD_SIDE = 4;

/** As `RowArrays` of supple.kinematics.row_arrays. */
export interface RowTable {
  bodies: number;
  width: number;
  treeRows: number;
  jointRows: number;
  coordinates: number;
  rows: number;
  free: number;
  extent: number;
  column: Int32Array;
  tree: Int32Array;
  reach: Int32Array;
  reachWidth: number;
  selected: Int32Array;
  integers: Int32Array;
  numbers: Float64Array;
  terms: number;
}

export interface RowData {
  sizes: Table;
  tree: Table;
  reach: Table;
  column: Table;
  selected: Table;
  rows_i: Table;
  rows_f: Table;
  extent: number;
}

export function rowTable(data: RowData): RowTable {
  const n = data.sizes.values;
  return {
    bodies: n[0], width: n[1], treeRows: n[2], jointRows: n[3], coordinates: n[4], rows: n[5], free: n[6],
    extent: data.extent,
    column: Int32Array.from(data.column.values),
    tree: Int32Array.from(data.tree.values),
    reach: Int32Array.from(data.reach.values),
    reachWidth: data.reach.shape[1],
    selected: Int32Array.from(data.selected.values),
    integers: Int32Array.from(data.rows_i.values),
    numbers: data.rows_f.values,
    terms: data.rows_i.shape[0],
  };
}
