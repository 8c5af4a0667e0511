/** Sends messages one after the other, each with its own number, and waits for every answer. */
export async function writeExchanges(
  url: string,
  threadId: string,
  numbers: { readonly from: number; readonly to: number },
): Promise<void> {
  for (let number = numbers.from; number <= numbers.to; number++) {
    const parts = [{ type: 'text', text: `Message number ${number}` }]
    const message = { id: `message-${number}`, role: 'user', parts }
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: threadId, messages: [message], trigger: 'submit-message' }),
    })
    await response.text()
  }
}
