const ITEMS = ['bolt M8', 'nut M8', 'washer 8.4', 'bracket', 'hinge'];

/** Order `index` of a series: everything in it follows from its number. */
export function orderNumbered(series, index, partner) {
  const orderNumber = `${series}-${String(index + 1).padStart(4, '0')}`;
  const lines = Array.from({ length: 1 + (index % 3) }, (_, line) => ({
    lineNumber: line + 1,
    item: ITEMS[(index + line) % ITEMS.length],
    quantity: String(10 * (line + 1)),
    unit: 'C62',
    unitPrice: `${1 + (index % 9)}.${line}5`,
  }));
  return { orderNumber, partner, currency: 'EUR', lines };
}
