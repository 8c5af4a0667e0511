import { Icon, type IconName } from 'holdfast/widgets'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'

export interface MenuAction {
  readonly name: string
  readonly icon: IconName
  readonly run: () => void
  readonly isDangerous?: true
}

export interface ThreadMenuProps {
  /** Of the thread: what the button and the menu are called by. */
  readonly title: string
  readonly actions: readonly MenuAction[]
}

/** What can be done with a thread: a button, and a menu in the top layer, so that no scrolling list cuts it off. */
export function ThreadMenu({ title, actions }: ThreadMenuProps): ReactNode {
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (!isOpen || menu.current === null || button.current === null) return
    menu.current.showPopover()
    place(menu.current, button.current)
    menu.current.querySelector('button')?.focus()
  }, [isOpen])
  const close = () => {
    button.current?.focus()
    setOpen(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || event.key === 'Tab') {
      // Of the menu alone: the drawer that it stands in stays open.
      event.stopPropagation()
      event.preventDefault()
      return close()
    }
    const target = targetOf(event.key, menu.current)
    if (target === undefined) return
    event.preventDefault()
    target.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={`Actions for ${title}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="dots" />
      </button>
      {isOpen && (
        <div
          ref={menu}
          popover="auto"
          role="menu"
          tabIndex={-1}
          className="app-actions"
          aria-label={title}
          onKeyDown={onKeyDown}
          onToggle={(event) => {
            if (event.newState === 'closed') setOpen(false)
          }}
        >
          {actions.map(({ name, icon, run, isDangerous }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              data-dangerous={isDangerous}
              onClick={() => {
                close()
                run()
              }}
            >
              <Icon name={icon} />
              {name}
            </button>
          ))}
        </div>
      )}
    </>
  )
}

function targetOf(key: string, menu: HTMLElement | null): HTMLElement | undefined {
  const items = [...(menu?.querySelectorAll('button') ?? [])]
  const at = items.findIndex((item) => item === document.activeElement)
  switch (key) {
    case 'ArrowDown':
      return items[(at + 1) % items.length]
    case 'ArrowUp':
      return items.at(at <= 0 ? -1 : at - 1)
    case 'Home':
      return items[0]
    case 'End':
      return items.at(-1)
    default:
      return undefined
  }
}

const gap = 4
const edge = 8

/** Below the button, at the end of its row; above it, or further in, where there is no room. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const isRtl = getComputedStyle(button).direction === 'rtl'
  const left = isRtl ? at.left : at.right - width
  const below = at.bottom + gap
  const top = below + height + edge > innerHeight ? at.top - gap - height : below
  menu.style.left = `${Math.max(edge, Math.min(left, innerWidth - width - edge))}px`
  menu.style.top = `${Math.max(edge, top)}px`
}
