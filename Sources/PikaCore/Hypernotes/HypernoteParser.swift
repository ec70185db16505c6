/// A one-pass parser of a hypernote's text; ``HypernoteDocument`` describes the handling of malformed components.
struct HypernoteParser {
    private struct Open {
        let component: HypernoteComponent
        var children: [HypernoteNode] = []
    }

    private var reader: HypernoteTagReader
    private let bytes: [UInt8]
    private var position = 0
    /// The start of the text that belongs to no node yet.
    private var textStart = 0
    private var stack: [Open] = []
    private var roots: [HypernoteNode] = []
    private var count = 0
    /// Lengths of backtick runs known to have no closing run.
    private var unclosedRuns: Set<Int> = []

    init(_ content: String) {
        self.bytes = Array(content.utf8)
        self.reader = HypernoteTagReader(bytes: self.bytes)
    }

    mutating func parse() -> [HypernoteNode] {
        while self.position < self.bytes.count, self.count < HypernoteDocument.maximumNodes {
            switch self.bytes[self.position] {
            case UInt8(ascii: "`"): self.skipCode()
            case UInt8(ascii: "<"): self.parseTag()
            default: self.position += 1
            }
        }
        self.position = self.bytes.count
        self.endText(at: self.position)
        while !self.stack.isEmpty { self.close() }
        return self.roots
    }

    /// Skips code, which is always text: from a run of backticks to the next run of the same length.
    private mutating func skipCode() {
        let run = self.run(at: self.position)
        self.position += run
        guard !self.unclosedRuns.contains(run) else { return }
        var end = self.position
        while end < self.bytes.count {
            guard self.bytes[end] == UInt8(ascii: "`") else {
                end += 1
                continue
            }
            let length = self.run(at: end)
            end += length
            if length == run {
                self.position = end
                return
            }
        }
        self.unclosedRuns.insert(run)
    }

    private func run(at start: Int) -> Int {
        self.bytes[start...].prefix { $0 == UInt8(ascii: "`") }.count
    }

    private mutating func parseTag() {
        let start = self.position
        guard let tag = self.reader.tag(at: start) else {
            self.position += 1
            return
        }
        switch tag.form {
        case .closing:
            guard let level = self.stack.lastIndex(where: { $0.component.name == tag.name }) else { break }
            self.endText(at: start)
            while self.stack.count > level { self.close() }
            self.textStart = tag.end
        case .opening where self.stack.count < HypernoteDocument.maximumDepth:
            self.endText(at: start)
            self.count += 1
            self.stack.append(
                Open(component: HypernoteComponent(name: tag.name, attributes: tag.attributes, children: [])))
            self.textStart = tag.end
        case .selfClosing where self.stack.count < HypernoteDocument.maximumDepth:
            self.endText(at: start)
            self.append(.component(HypernoteComponent(name: tag.name, attributes: tag.attributes, children: [])))
            self.textStart = tag.end
        case .opening, .selfClosing: break
        }
        self.position = tag.end
    }

    private mutating func close() {
        guard let open = self.stack.popLast() else { return }
        var component = open.component
        component.children = open.children
        // It was counted when it was opened.
        self.count -= 1
        self.append(.component(component))
    }

    /// Appends the pending text, unless it is only white space, which just separates components.
    private mutating func endText(at end: Int) {
        let text = String(decoding: self.bytes[self.textStart..<end], as: UTF8.self)
        self.textStart = end
        guard !text.trimmingBlanks.isEmpty else { return }
        self.append(.text(HypernoteTagReader.resolvingEntities(text)))
    }

    private mutating func append(_ node: HypernoteNode) {
        self.count += 1
        if self.stack.isEmpty {
            self.roots.append(node)
        } else {
            self.stack[self.stack.count - 1].children.append(node)
        }
    }
}
