/** An error whose message was written for clients, and is stored and shown unchanged. */
export class WordedError extends Error {
  override readonly name = 'WordedError'
}
