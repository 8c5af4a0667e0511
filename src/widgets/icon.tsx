import type { ReactNode } from 'react'

/** The icons of the widgets. */
export type IconName =
  | 'check'
  | 'warning'
  | 'cross'
  | 'stop'
  | 'clock'
  | 'question'
  | 'hand'
  | 'chevron'
  | 'send'
  | 'plus'
  | 'copy'
  | 'down'
  | 'bars'
  | 'menu'
  | 'pencil'
  | 'trash'
  | 'search'
  | 'theme'
  | 'settings'
  | 'refresh'
  | 'chart'
  | 'code'
  | 'download'
  | 'fork'
  | 'attach'
  | 'dots'
  | 'pin'
  | 'archive'
  | 'unarchive'
  | 'file'
  | 'steer'
  | 'thumb-up'
  | 'thumb-down'
  | 'share'

/** One set, drawn on a 16 px grid with one stroke. States differ in shape, not only in colour. */
const paths: Readonly<Record<IconName, string>> = {
  check: 'M3 8.5 6.5 12 13 4.5',
  warning: 'M8 2 15 14H1L8 2Zm0 5v3.2M8 12.4v.1',
  cross: 'M4 4l8 8M12 4l-8 8',
  stop: 'M4.5 4.5h7v7h-7z',
  clock: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Zm0 2.7V8l2.4 1.6',
  question:
    'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8ZM6.200 6.400a1.800 1.800 0 1 1 2.700 1.600c-.600.350-.900.700-.900 1.300M8 11.400v.1',
  hand: 'M5 8V3.8a1 1 0 0 1 2 0V7m0-.5V2.8a1 1 0 0 1 2 0V7m0-.4V3.8a1 1 0 0 1 2 0v5.7c0 2.6-1.6 4.2-4 4.2-1.8 0-2.9-.8-3.7-2.3L2.2 9.200a1 1 0 0 1 1.7-1L5 9.6',
  chevron: 'M6 4l4 4-4 4',
  send: 'M8 13.5v-11M3.500 7 8 2.500 12.500 7',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.500 5.500h7v8h-7zM3.500 10.500v-8h7',
  down: 'M8 2.500v11M3.500 9 8 13.500 12.500 9',
  bars: 'M2.500 4h6M5 8h6M8.500 12h5',
  menu: 'M2.500 4h11M2.500 8h11M2.500 12h11',
  pencil: 'M3 13l.600-2.600L10.700 3.300l2 2-7.100 7.100L3 13Z',
  trash: 'M3.500 4.500h9M6.500 4.500V3h3v1.500M4.500 4.500l.600 8.500h5.800l.600-8.500',
  search: 'M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9Zm3.400 7.900 3.100 3.100',
  theme: 'M8 2v12A6 6 0 0 0 8 2Zm0 0a6 6 0 0 0 0 12',
  settings:
    'M2.500 5h4M10.500 5h3M2.500 11h2M8.500 11h5M8.500 3.200a1.800 1.800 0 1 1 0 3.600 1.800 1.800 0 0 1 0-3.600ZM6.500 9.200a1.800 1.800 0 1 1 0 3.600 1.800 1.800 0 0 1 0-3.600Z',
  refresh: 'M13 8a5 5 0 1 1-1.500-3.600M13 2.500v3h-3',
  chart: 'M2.500 2.500v11h11M4.500 10.500 7.500 7l2.500 2 3.500-4.500',
  code: 'M5.500 4.500 2 8l3.500 3.500M10.500 4.500 14 8l-3.500 3.500',
  fork: 'M8 13.500V9.500M4 2.500v2.500a3 3 0 0 0 3 3h2a3 3 0 0 0 3-3V2.500M8 8v2M2.200 4.300 4 2.500l1.800 1.800M10.200 4.300 12 2.500l1.800 1.800',
  attach:
    'M12.500 7.200 8 11.700a3 3 0 0 1-4.200-4.200l5.300-5.300a2 2 0 0 1 2.800 2.800L6.600 10.300a1 1 0 0 1-1.400-1.400l4.500-4.500',
  dots: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  pin: 'M5.500 2.500h5M6.500 2.500v4L4.500 9h7l-2-2.500v-4M8 9v4.500',
  archive: 'M2.500 3h11v3h-11zM3.500 6v7h9V6M6.500 9h3',
  unarchive: 'M2.500 3h11v3h-11zM3.500 6v7h9V6M8 11.500v-3.500M6.300 9.500 8 7.800l1.700 1.700',
  file: 'M4 1.800h5l3 3v9.400H4zM9 1.800v3h3',
  steer: 'M3 2.500V7a3 3 0 0 0 3 3h7M9.500 6.500 13 10l-3.500 3.500',
  'thumb-up':
    'M2.500 7h2.500v6.500H2.500zM5 7l2.600-5a1.500 1.500 0 0 1 1.400 2L8.500 6.500h4a1.200 1.200 0 0 1 1.200 1.400l-.800 4.500a1.300 1.300 0 0 1-1.300 1.100H5',
  'thumb-down':
    'M2.500 9h2.500V2.500H2.500zM5 9l2.600 5a1.500 1.500 0 0 0 1.400-2L8.500 9.500h4a1.200 1.200 0 0 0 1.200-1.400l-.800-4.500a1.300 1.300 0 0 0-1.300-1.100H5',
  share: 'M8 9.500V2M5 4.500 8 1.500l3 3M4.500 7H3v7h10V7h-1.500',
  download: 'M8 2.500v7.500M4.500 7 8 10.500 11.500 7M3 13.500h10',
}

/** Always next to text or in a labelled button, so it is hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className={`hf-icon hf-icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

/** A rotating circle; hidden from screen readers, so it needs text next to it. */
export const Spinner = (): ReactNode => <span className="hf-spinner" aria-hidden="true" />
