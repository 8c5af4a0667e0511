/**
 * Runs in the page before anything else and writes down what must never be seen (CO2, LG4): text of an
 * answer, or of the draft that it was, that gets shorter; a call whose state goes back.
 */
export function watchPage(): void {
  const faults: string[] = []
  Object.assign(globalThis, { faults })
  const rank: Readonly<Record<string, number>> = {
    streaming: 0,
    'awaiting-approval': 1,
    ready: 2,
    running: 3,
  }
  const texts = new WeakMap<Element, string>()
  const answers = new WeakSet<Element>()
  const states = new Map<string, string>()

  const compare = () => {
    for (const element of document.querySelectorAll('[data-role=answer], [data-role=draft]')) {
      const text = element.textContent
      const before = texts.get(element) ?? ''
      if (text.length < before.length) {
        const step = element.getAttribute('data-step')
        const change = `${before.length} “…${before.slice(-40)}” → ${text.length} “…${text.slice(-40)}”`
        faults.push(`the text of step ${step} got shorter: ${change}`)
      }
      texts.set(element, text)
      if (element.getAttribute('data-role') === 'answer') answers.add(element)
      else if (answers.has(element)) faults.push('an answer became a draft')
    }
    for (const element of document.querySelectorAll('[data-call-id][data-call-state]')) {
      const id = element.getAttribute('data-call-id') ?? ''
      const now = element.getAttribute('data-call-state') ?? ''
      const before = states.get(id)
      if (before !== undefined && (rank[now] ?? 4) < (rank[before] ?? 4)) {
        faults.push(`a call went from ${before} to ${now}`)
      }
      states.set(id, now)
    }
  }
  new MutationObserver(compare).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ['data-role', 'data-call-state'],
  })
}
