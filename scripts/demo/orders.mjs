const ITEMS = ['bolt M8', 'nut M8', 'washer 8.4', 'bracket', 'hinge'];

/** Whom the company orders from; each speaks a format of its own. */
export const PARTNERS = [
  { id: 'acme', name: 'Acme Ltd', format: 'avro' },
  { id: 'globex', name: 'Globex SpA', format: 'protobuf' },
  { id: 'initech', name: 'Initech Inc', format: 'json-schema' },
];

/** Order `index` of a series: everything in it follows from its number. The partners take turns. */
export function orderNumbered(series, index, partner = PARTNERS[index % PARTNERS.length].id) {
  const orderNumber = `${series}-${String(index + 1).padStart(4, '0')}`;
  return orderOf(orderNumber, partner, 1 + (index % 3), index);
}

/** An order with so many lines. */
export function orderOf(orderNumber, partner, lineCount, index = 0) {
  const lines = Array.from({ length: lineCount }, (_, line) => ({
    lineNumber: line + 1,
    item: ITEMS[(index + line) % ITEMS.length],
    quantity: String(10 * (line + 1)),
    unit: 'C62',
    unitPrice: `${1 + (index % 9)}.${line}5`,
  }));
  return { orderNumber, partner, currency: 'EUR', lines };
}
