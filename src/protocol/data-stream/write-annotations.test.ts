import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { projectVercelAnnotations, projectVercelMessage } from '../../views/vercel-message.ts'
import { createAnnotationWriter } from './write-annotations.ts'
import { turnStates } from '../../../test/support/turn-states.ts'

describe('the annotations of the line protocol', () => {
  it('[RS4 FD4] are at every moment what a page has, counting the last of each call', () => {
    let rewritten = 0
    for (let seed = 9_000; seed < 9_040; seed++) {
      for (const states of turnStates(seed)) {
        const write = createAnnotationWriter()
        const last = new Map<unknown, JsonObject>()
        for (const turn of states) {
          const line = write(projectVercelAnnotations(turn))
          const items = line === '' ? [] : (JSON.parse(line.slice(2)) as JsonObject[])
          for (const item of items) {
            const subject = item.toolCallId ?? item.messageId
            if (last.has(subject)) rewritten += 1
            last.set(subject, item)
          }
          const page = projectVercelMessage(turn)?.annotations ?? []
          const isSent = (item: object) =>
            turn.progress.status !== 'running' || !('messageId' in item)
          const ofMessage = (item: JsonObject) => item.messageId !== undefined
          const received = [...last.values()].filter(
            (item) => turn.progress.status !== 'running' || !ofMessage(item),
          )
          expect(received.toSorted(byCall)).toEqual(page.filter(isSent).toSorted(byCall))
        }
      }
    }
    expect(rewritten).toBeGreaterThan(20)
  })
})

const byCall = (left: object, right: object): number =>
  JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
