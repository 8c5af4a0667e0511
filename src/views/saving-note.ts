/** Sent on every open stream when writes to the store begin to fail, and again when they succeed (LG3a). */
export interface SavingNote {
  readonly status: 'saving-interrupted' | 'saving'
  readonly message: string
  readonly canContinue: false
}

const notes: Readonly<Record<'ok' | 'interrupted', SavingNote>> = {
  interrupted: {
    status: 'saving-interrupted',
    message:
      'Saving is interrupted: the database accepts no writes right now. What you see is saved, and the answer continues when saving works again.',
    canContinue: false,
  },
  ok: { status: 'saving', message: '', canContinue: false },
}

export const savingNoteOf = (saving: 'ok' | 'interrupted'): SavingNote => notes[saving]
