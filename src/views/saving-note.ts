/** Told on every open stream while writes do not get through to the store, and again when they do (LG3a). */
export interface SavingNote {
  readonly status: 'saving-interrupted' | 'saving'
  readonly message: string
  readonly canContinue: false
}

const notes: Readonly<Record<'ok' | 'interrupted', SavingNote>> = {
  interrupted: {
    status: 'saving-interrupted',
    message:
      'Saving is interrupted: the database takes nothing right now. What you see is saved, and the answer goes on when it can be.',
    canContinue: false,
  },
  ok: { status: 'saving', message: '', canContinue: false },
}

export const savingNoteOf = (saving: 'ok' | 'interrupted'): SavingNote => notes[saving]
