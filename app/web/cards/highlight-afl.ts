export interface AflPiece {
  readonly kind: 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'function' | 'series'
  readonly text: string
}

/** AmiBroker formula language, as far as colours go. Names are told apart without regard to case. */
const keywords = new Set(
  'if else for while do switch case default break continue return function procedure local global true false null and or not #include #pragma'.split(
    ' ',
  ),
)
const series = new Set(
  'o h l c v oi open high low close volume avg buy sell short cover buyprice sellprice shortprice coverprice positionsize filter'.split(
    ' ',
  ),
)

const token =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(\b\d+(?:\.\d+)?\b)|(#?[A-Za-z_]\w*)/g

export function highlightAfl(code: string): readonly AflPiece[] {
  const pieces: AflPiece[] = []
  let end = 0
  for (const match of code.matchAll(token)) {
    const [text, comment, string, number] = match
    if (match.index > end) pieces.push({ kind: 'plain', text: code.slice(end, match.index) })
    end = match.index + text.length
    if (comment !== undefined) pieces.push({ kind: 'comment', text })
    else if (string !== undefined) pieces.push({ kind: 'string', text })
    else if (number !== undefined) pieces.push({ kind: 'number', text })
    else pieces.push({ kind: wordKind(text, code.slice(end, end + 10)), text })
  }
  if (end < code.length) pieces.push({ kind: 'plain', text: code.slice(end) })
  return pieces
}

function wordKind(word: string, after: string): AflPiece['kind'] {
  const name = word.toLowerCase()
  if (keywords.has(name)) return 'keyword'
  if (/^\s*\(/.test(after)) return 'function'
  return series.has(name) ? 'series' : 'plain'
}
