/** A column of the parameters of a commit: one array for each. */
export interface Column {
  readonly name: string
  readonly type: string
}
const columns = (list: string): readonly Column[] =>
  list.split(',').map((each) => {
    const [name = '', type = ''] = each.trim().split(' ')
    return { name, type }
  })

export const headColumns = columns(
  'id text, expected bigint, planned_on text, size bigint, mark text, fence bigint, ms bigint',
)
export const threadColumns =
  columns(`lease text, holder text, turn text, title text, activity_at bigint,
  queue text, owner text, first_title text, made_at bigint, forked_from text, title_note text,
  pinned boolean, archived boolean`)
export const batchColumns = columns(
  'thread text, seq bigint, size integer, message_id text, at bigint, payload text',
)
export const callColumns =
  columns(`thread text, call_id text, message_id text, seq bigint, name text,
  life text, input text, output text, model_output text`)
export const changedColumns =
  columns(`thread text, message_id text, seq bigint, status text, body text,
  body_seq bigint, commit_seq bigint, retired_seq bigint, parent_seq bigint, versions text`)
export const shownColumns = columns('thread text, seq bigint, versions text')
export const newColumns = columns(`thread text, seq bigint, message_id text, role text, status text,
  body text, body_seq bigint, commit_seq bigint, created_at bigint, retired_seq bigint, parent_seq bigint,
  versions text`)
export const fileColumns = columns('thread text, file_id text, queued boolean')
export const releasedColumns = columns('thread text, file_id text, at bigint')
export const inputColumns = columns('thread text, message_id text, turn_id text')
