import { isStepCount, type ModelMessage, streamText, tool, type UIMessage } from 'ai'
import { createHoldfast } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { createDemoModel } from './demo-model.ts'
import { z } from 'zod'

// No model: this process answers with a loop of its own.
export const holdfast = createHoldfast({
  store: sqlite(process.env['HOLDFAST_DB'] ?? 'chat.db'),
  // Somebody decided through a route of Holdfast: go on with the same turn.
  async resumeRecorded({ threadId, turnId, messages }) {
    await holdfast.record(answer(messages).stream, { threadId, continue: turnId })
  },
})

const answer = (messages: ModelMessage[]) =>
  streamText({
    model: createDemoModel(),
    messages,
    stopWhen: isStepCount(5),
    tools: {
      delete_note: tool({
        description: 'Deletes a note.',
        inputSchema: z.object({ title: z.string() }),
        needsApproval: true,
        execute: ({ title }) => ({ deleted: title }),
      }),
    },
  })

export async function POST(request: Request): Promise<Response> {
  const ownerId = 'user-1' // whoever your app has signed in
  const { id: threadId, messages } = (await request.json()) as { id: string; messages: UIMessage[] }
  const last = messages.at(-1)
  if (last === undefined) return new Response('no message', { status: 400 })
  const recording = await holdfast.record(
    // Called once the message is stored, with the messages of the ledger.
    (turn) => answer(turn.messages).stream,
    last.role === 'assistant'
      ? // The client sends the assistant's message back with its answer to an approval.
        { threadId, ownerId, continue: last.id, message: last, by: ownerId }
      : {
          threadId,
          message: {
            id: last.id,
            parts: last.parts.flatMap((part) => (part.type === 'text' ? [part] : [])),
          },
          create: { ownerId, title: 'A chat' },
        },
  )
  return recording.toResponse({ sdk: 7 })
}
