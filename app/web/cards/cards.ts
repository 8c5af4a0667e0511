import './cards.css'
import './written-note.css'
import type { CardRegistry } from 'holdfast/widgets'
import { aflCard } from './afl-card.tsx'
import { deletedNoteCard, noteCard, noteSearchCard } from './note-cards.tsx'
import { stockCard } from './stock-card.tsx'
import { timeCard } from './time-card.tsx'
import { weatherCard } from './weather-card.tsx'
import { writtenNoteCard } from './written-note-card.tsx'

/** The cards of the demo's tools, by the names of the tools. */
export const cards: CardRegistry = {
  get_weather: weatherCard,
  get_time: timeCard,
  get_stock: stockCard,
  get_afl_code: aflCard,
  search_notes: noteSearchCard,
  read_note: noteCard,
  write_note: writtenNoteCard,
  delete_note: deletedNoteCard,
}
