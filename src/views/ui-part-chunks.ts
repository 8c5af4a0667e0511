import type { Part, TextPart, Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toKnownCall } from './known-call.ts'
import { sameJson } from './same-json.ts'
import type { UiChunk, UiTextChunk } from './ui-chunk.ts'
import { projectItemPart, projectSteeringPart, projectTextPart, type UiOptions } from './ui-part.ts'
import { toolChunks } from './ui-tool-chunks.ts'
import { vocabularyOf } from './ui-vocabulary.ts'

/** A part, and the state of the turn that contains it. */
interface SeenPart<P extends Part = Part> {
  readonly part: P
  readonly turn: Turn
}

/** The chunks that bring a client from one state of a part to another; from nothing, if it has none. */
export function partChunks(
  before: SeenPart | undefined,
  { part, turn }: SeenPart,
  options: UiOptions,
  isInLastStep: boolean,
): readonly UiChunk[] {
  const vocabulary = vocabularyOf(options.sdk)
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return textChunks(before?.part.type === part.type ? before.part : undefined, part)
    case 'call': {
      const call = before?.part.type === 'call' ? toKnownCall(before.part, before.turn) : undefined
      const { lazyHref } = options
      return toolChunks(call, toKnownCall(part, turn), { vocabulary, lazyHref, isInLastStep })
    }
    case 'steering':
      return before === undefined ? [projectSteeringPart(part, vocabulary)] : []
    default: {
      const item = projectItemPart(part, vocabulary)
      if (item === null) return []
      if (before === undefined) return [item]
      // Only data with an id can change; a client finds it by its id, at any position.
      return part.type === 'data' &&
        before.part.type === 'data' &&
        !sameJson(before.part.data, part.data)
        ? [item]
        : []
    }
  }
}

function textChunks(before: TextPart | undefined, after: TextPart): readonly UiTextChunk[] {
  const { block: id, type } = after
  if (before?.state === 'done') return []
  const chunks: UiTextChunk[] = []
  const { providerMetadata } = projectTextPart(after)
  const delta = after.text.slice(before?.text.length ?? 0)
  let isMetadataSent =
    before !== undefined && sameJson(projectTextPart(before).providerMetadata, providerMetadata)
  const withMetadata = <Chunk extends UiTextChunk>(chunk: Chunk) => {
    const sent = withDefined(chunk, {
      providerMetadata: isMetadataSent ? undefined : providerMetadata,
    })
    isMetadataSent = true
    return sent
  }
  if (before === undefined) chunks.push(withMetadata({ type: `${type}-start`, id }))
  if (delta !== '') chunks.push(withMetadata({ type: `${type}-delta`, id, delta }))
  if (after.state === 'done') chunks.push(withMetadata({ type: `${type}-end`, id }))
  else if (!isMetadataSent) chunks.push(withMetadata({ type: `${type}-delta`, id, delta: '' }))
  return chunks
}
