import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../core/event.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import type { NamedMessage, Unit } from './import-units.ts'
import { addNode, type VersionNode, type VersionRoot, writeTree } from './version-tree.ts'

const count = 6_000
const list = <Item>(toItem: (nth: number) => Item, length = count): readonly Item[] =>
  Array.from({ length }, (_, nth) => toItem(nth))

describe('[VR1 OP7] a tree of versions', () => {
  const toUnit = (events: number) =>
    function* ({ id }: NamedMessage): PausableWork<Unit> {
      yield
      const added = {
        type: 'message-added',
        messageId: id,
        role: 'user',
        parts: [],
        at: 1,
      } as const
      return { id, isTurn: false, states: [], events: list(() => added, events) }
    }
  const node = (name: string, hiddenSeq?: number): VersionNode => ({
    item: { id: name, index: 0, message: { kind: 'user', role: 'user', parts: [] } },
    children: [],
    ...(hiddenSeq === undefined ? {} : { hiddenSeq }),
  })
  const write = (root: VersionRoot, events = 1) =>
    runToEnd(writeTree(root, { from: 1, first: 1, at: 1, toUnit: toUnit(events) })).appends

  it.each([undefined, 1])('is written as long as it is, however deep (hidden: %s)', (hiddenSeq) => {
    const root: VersionRoot = { children: [] }
    let last = root
    for (let depth = 0; depth < count; depth++) {
      const next = node(`long-${depth}`, hiddenSeq === undefined ? undefined : 2)
      addNode(last, next)
      addNode(last, node(`short-${depth}`, 1))
      last = next
    }
    const named = (event: NewEvent) =>
      event.type === 'messages-retired'
        ? event.messageIds.length
        : event.type === 'messages-shown'
          ? event.places.length
          : 0
    const events = write(root).flat()
    expect(events.filter(({ type }) => type === 'message-added')).toHaveLength(2 * count)
    expect(events.reduce((sum, event) => sum + named(event), 0)).toBeLessThan(100 * count)
    const shown = new Set<string>()
    const ids = events.map((event) => (event.type === 'message-added' ? event.messageId : ''))
    for (const [nth, event] of events.entries()) {
      if (event.type === 'message-added') shown.add(ids[nth] ?? '')
      if (event.type === 'messages-retired') for (const id of event.messageIds) shown.delete(id)
      if (event.type === 'messages-shown') {
        for (const place of event.places) shown.add(ids[place - 1] ?? '')
      }
    }
    const wanted = hiddenSeq === undefined ? list((depth) => `long-${depth}`) : []
    expect([...shown].toSorted()).toEqual(wanted.toSorted())
  })

  it('has one object for each version, however many name it', () => {
    const root: VersionRoot = { children: [] }
    for (let nth = 0; nth < 50; nth++) addNode(root, node(`v${nth}`, nth + 1))
    const versions = write(root)
      .flat()
      .flatMap((event) => ('versionOf' in event ? (event.versionOf ?? []) : []))
    expect(versions).toHaveLength((50 * 49) / 2)
    expect(new Set(versions).size).toBe(49)
  })

  it('takes messages of any number of events', () => {
    const root: VersionRoot = { children: [node('one'), node('two', 1)] }
    expect(write(root, 300_000).flat()).toHaveLength(600_003)
  })
})
