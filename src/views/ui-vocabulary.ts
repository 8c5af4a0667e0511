/** The major version of the client's AI SDK. */
export type SdkVersion = 5 | 6 | 7

/** What a client of a version supports. A page shows what a stream can carry, and no more. */
export interface UiVocabulary {
  /**
   * `requests-while-waiting`: a request is sent only while its call waits, so that a client without support
   * for approvals can read everything else.
   */
  readonly approvals: 'none' | 'requests-while-waiting' | 'requests' | 'requests-and-responses'
  /** Titles and tool metadata; provider metadata on the start of a call, on results and on files. */
  readonly extras: boolean
  /** `reasoning-file` and `custom`. */
  readonly newItems: boolean
  /** `steering-message`, from 7.0.163 on. */
  readonly steering: boolean
}

const vocabularies: Readonly<Record<SdkVersion | 'any', UiVocabulary>> = {
  any: { approvals: 'requests-while-waiting', extras: false, newItems: false, steering: false },
  5: { approvals: 'none', extras: false, newItems: false, steering: false },
  6: { approvals: 'requests', extras: true, newItems: false, steering: false },
  7: { approvals: 'requests-and-responses', extras: true, newItems: true, steering: true },
}

/** Without a version: what every client from 5.0.92 on accepts, and approvals while a call waits. */
export const vocabularyOf = (sdk: SdkVersion | undefined): UiVocabulary =>
  vocabularies[sdk ?? 'any']
