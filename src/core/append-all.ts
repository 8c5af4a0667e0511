/** Not `push(...items)`: a spread is a list of arguments, and from some 120,000 on there is no room for it on the stack. */
export function appendAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item)
}
