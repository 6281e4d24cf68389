// Browsers refuse workers to pages that were opened from a disk. There the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(script) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      this.inside = new Promise((ready) => {
        frame.onload = () => {
          frame.onload = null
          const inside = frame.contentWindow
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const element = inside.document.createElement("script")
          element.src = script
          element.onload = () => ready(inside)
          inside.document.body.append(element)
        }
      })
      document.body.append(frame)
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
  }
  window.Worker = window.IFrameWorker
}
