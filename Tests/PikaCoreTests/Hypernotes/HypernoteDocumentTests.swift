import LiveTesting
import Nostr
import Testing

@testable import PikaCore

@Suite struct HypernoteDocumentTests {
    private func component(
        _ name: String, _ attributes: [(String, HypernoteAttribute.Value)] = [], _ children: [HypernoteNode] = []
    ) -> HypernoteNode {
        .component(
            HypernoteComponent(
                name: name, attributes: attributes.map { HypernoteAttribute(name: $0.0, value: $0.1) },
                children: children))
    }

    @Test func parsesEveryCatalogueComponent() {
        let content = """
            # Checkout
            <Card>
              <VStack gap={4}>
                <Heading>Order</Heading>
                <Body>Two **cakes**</Body>
                <TextInput name="memo" placeholder='A note' />
                <ChecklistItem name="gift" checked>As a gift</ChecklistItem>
                <Details open={false}><Summary>More</Summary><Caption>small</Caption></Details>
                <HStack><SubmitButton action="pay" variant="primary">Pay</SubmitButton></HStack>
              </VStack>
            </Card>
            """
        let inner = [
            self.component("Heading", [], [.text("Order")]),
            self.component("Body", [], [.text("Two **cakes**")]),
            self.component("TextInput", [("name", .string("memo")), ("placeholder", .string("A note"))]),
            self.component(
                "ChecklistItem", [("name", .string("gift")), ("checked", .boolean(true))], [.text("As a gift")]),
            self.component(
                "Details", [("open", .boolean(false))],
                [self.component("Summary", [], [.text("More")]), self.component("Caption", [], [.text("small")])]),
            self.component(
                "HStack", [],
                [
                    self.component(
                        "SubmitButton", [("action", .string("pay")), ("variant", .string("primary"))], [.text("Pay")])
                ]),
        ]
        let document = HypernoteDocument(content)
        #expect(
            document.nodes == [
                .text("# Checkout\n"),
                self.component("Card", [], [self.component("VStack", [("gap", .number(4))], inner)]),
            ])
        #expect(document.actions == ["pay"])
        #expect(document.plainText == "# Checkout Order Two **cakes** As a gift More small Pay")
        guard case .component(let card) = document.nodes.last else { return #expect(Bool(false)) }
        #expect(card.kind == .card && card["gap"] == nil)
    }

    @Test func attributesAreTyped() {
        let text =
            #"<Widget label="Fish &amp; Chips" count=4 enabled visible=false size={1.5} on={true} name={'n'} "#
            + #"expr={state.count} nested={{a: 1}} bare=word />"#
        #expect(
            HypernoteDocument(text).nodes == [
                self.component(
                    "Widget",
                    [
                        ("label", .string("Fish & Chips")), ("count", .number(4)), ("enabled", .boolean(true)),
                        ("visible", .boolean(false)), ("size", .number(1.5)), ("on", .boolean(true)),
                        ("name", .string("n")), ("expr", .expression("state.count")),
                        ("nested", .expression("{a: 1}")), ("bare", .string("word")),
                    ])
            ])
        guard case .component(let widget) = HypernoteDocument(text).nodes.first else { return #expect(Bool(false)) }
        #expect(widget.kind == nil)
    }

    @Test func collectsUniqueTrimmedButtonActions() {
        let text = """
            <SubmitButton action="yes">Yes</SubmitButton><Card><SubmitButton action=" no "/></Card>
            <SubmitButton action="yes"/><SubmitButton action=""/><SubmitButton/><SubmitButton action={x}/>
            <Other action="other"/>
            """
        #expect(HypernoteDocument(text).actions == ["yes", "no"])
    }

    @Test(arguments: [
        "", "plain", "a < b and c > d", "<", "</", "<>", "</>", "<1/>", "< Card>", "<Card", "<Card a", "<Card a=",
        "<Card a=\"x", "<Card a={x", "<Card a==b>", "<Card /x>", "<Card a=\"1\"b=\"2\">", "</Card>", "</Card a>",
        "<https://example.com>", "`<Card>`", "```\n<Card>\n```", "`` `<Card>` ``", "x & y", "\u{0}<\u{0}>",
    ])
    func parsesUnknownMarkupAsText(text: String) {
        let nodes = HypernoteDocument(text).nodes
        #expect(nodes == (text.isEmpty ? [] : [.text(text)]))
    }

    @Test func unclosedComponentEndsWithItsParent() {
        #expect(
            HypernoteDocument("<Card><Heading>a</Card>b<Body>c").nodes == [
                self.component("Card", [], [self.component("Heading", [], [.text("a")])]), .text("b"),
                self.component("Body", [], [.text("c")]),
            ])
    }

    @Test func entitiesAreResolvedOnce() {
        #expect(
            HypernoteDocument("&lt;Card&gt; &amp;lt; &quot;&#39;&apos; &nbsp; &").nodes == [
                .text("<Card> &lt; \"'' &nbsp; &")
            ])
    }

    /// Returns the depth and the number of nodes.
    private func measure(_ nodes: [HypernoteNode]) -> (depth: Int, count: Int) {
        var depth = 0
        var count = 0
        for node in nodes {
            count += 1
            guard case .component(let component) = node else { continue }
            let inner = self.measure(component.children)
            depth = max(depth, inner.depth + 1)
            count += inner.count
        }
        return (depth, count)
    }

    @Test(

        arguments: [
            String(repeating: "<A>", count: 20_000), String(repeating: "<A/>", count: 16_000),
            String(repeating: "<A>x</A>", count: 8000), String(repeating: "<A b={", count: 10_000),
            String(repeating: "<A b=\"", count: 10_000), String(repeating: "<A a ", count: 12_000),
            String(repeating: "`", count: 65_000), String(repeating: "</A>", count: 16_000),
            String(repeating: "&", count: 65_000),
            (1..<350).map { String(repeating: "`", count: $0) }.joined(separator: " "),
            "<A " + String(repeating: "b ", count: 30_000) + ">", "<" + String(repeating: "A", count: 60_000) + ">",
        ])
    func hostileTextStaysWithinTheLimits(text: String) {
        let document = HypernoteDocument(text)
        let (depth, count) = self.measure(document.nodes)
        #expect(depth <= HypernoteDocument.maximumDepth)
        #expect((1...(HypernoteDocument.maximumNodes + HypernoteDocument.maximumDepth)).contains(count))
        #expect(document.actions.isEmpty)
    }

    @Test func doesNotParseOverlongText() {
        let text = String(repeating: "<Card/>", count: HypernoteDocument.maximumBytes / 7 + 1)
        #expect(HypernoteDocument(text).nodes == [.text(text)])
    }

    @Test func parsesEveryPrefixOfHypernote() {
        let text = Array(
            "# é<Card gap={1}><SubmitButton action=\"a\">`<x>` ok &amp;</SubmitButton></Card>".unicodeScalars)
        for end in 0...text.count {
            var prefix = String.UnicodeScalarView()
            prefix.append(contentsOf: text[..<end])
            let (depth, count) = self.measure(HypernoteDocument(String(prefix)).nodes)
            #expect(depth <= 3 && count <= 6)
        }
    }

    @Test func damagedHypernotesStayWithinTheLimits() {
        let sample = Array(
            "# Hi\n<Card gap={1}><Details open><Summary>a</Summary>`<x>`</Details><TextInput name='n' /></Card>".utf8)
        let pieces = ["<Card>", "</Card>", "<", ">", "`", "\"", "{", "}", "&lt;", "\u{0}", "é", "/>"].map {
            Array($0.utf8)
        }
        var random = SplitMix64(seed: 99)
        for _ in 0..<5000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place..<min(bytes.count - 1, place + 5))
                default: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
                }
            }
            let document = HypernoteDocument(String(decoding: bytes, as: UTF8.self))
            let (depth, count) = self.measure(document.nodes)
            #expect(depth <= HypernoteDocument.maximumDepth && (1...100).contains(count))
            #expect(document.actions.isEmpty)
        }
    }

    @Test func catalogueListsEveryParsedComponent() throws {
        let catalog = HypernoteCatalog.json
        #expect(catalog["protocol_version"]?.integer == 1)
        #expect(catalog["kinds"] == ["note": 9467, "action_response": 9468])
        #expect(
            catalog.object?.members.map(\.name) == [
                "protocol_version", "kinds", "design_principles", "components", "actions",
            ])
        let components = try #require(catalog["components"]?.array)
        #expect(
            Set(components.compactMap { $0["name"]?.string })
                == Set(HypernoteComponent.Kind.allCases.map(\.rawValue)))
        #expect(components.count == HypernoteComponent.Kind.allCases.count)
        for component in components {
            #expect(
                component.object?.members.map(\.name) == [
                    "name", "category", "description", "design_principles", "props",
                ])
            for property in component["props"]?.array ?? [] {
                #expect(property.object?.members.map(\.name) == ["name", "kind", "required", "description"])
            }
        }
        let action = try #require(catalog["actions"]?.array?.first)
        #expect(action["response_kind"]?.integer == 9468)
        #expect(action["required_tags"] == ["e"])
        #expect(action["trigger_components"] == ["SubmitButton"])
        #expect(try JSONValue(json: catalog.jsonText) == catalog)
    }
}

@Suite struct HypernoteMessageTests {
    @Test func hypernoteIsMessageWithTags() throws {
        let note = Hypernote(content: "hi", title: "T", state: #"{"a":1,"b":"x","c":true,"d":null,"e":{"f":2}}"#)
        let message = note.message
        #expect(message.kind.rawValue == 9467)
        #expect(message.tags == [Nostr.Tag("title", "T"), Nostr.Tag("state", note.state ?? "")])
        #expect(Hypernote(kind: message.kind, content: message.content, tags: message.tags) == note)
        #expect(Hypernote(kind: .chatMessage, content: "hi", tags: []) == nil)
        #expect(Hypernote(content: "hi").message.tags.isEmpty)
        #expect(note.initialForm == ["a": "1", "b": "x", "c": "true", "e": #"{"f":2}"#])
        for state in ["", "[]", "x", "{", "1", String(repeating: "[", count: 100)] {
            #expect(Hypernote(content: "", state: state).initialForm.isEmpty)
        }
    }

    @Test func answerRoundTrips() throws {
        let answer = HypernoteAction(action: "pay", form: ["b": "2", "a": "\"1\""])
        #expect(answer.content == #"{"action":"pay","form":{"a":"\"1\"","b":"2"}}"#)
        #expect(HypernoteAction(content: answer.content) == answer)
        #expect(HypernoteAction(content: #"{"action":" x "}"#) == HypernoteAction(action: "x"))
        #expect(
            HypernoteAction(content: #"{"action":"x","form":{"n":1,"o":{},"z":null}}"#)
                == HypernoteAction(action: "x", form: ["n": "1", "o": "{}"]))
        let id = try EventID(hex: String(repeating: "1", count: 64))
        let message = answer.message(to: id)
        #expect(message.kind.rawValue == 9468 && message.tags == [Nostr.Tag("e", id.hex)])
    }

    @Test func refusesMalformedAnswers() {
        let many = (0...HypernoteAction.maximumFields).map { "\"\($0)\":\"\"" }.joined(separator: ",")
        for content in [
            "", "x", "[]", "{}", #"{"action":""}"#, #"{"action":"  "}"#, #"{"action":1}"#, #"{"form":{}}"#,
            #"{"action":"x","form":[]}"#, #"{"action":"x","form":"y"}"#, #"{"action":"x""#, #"{"action":"x"} y"#,
            #"{"action":"x","form":{"# + many + "}}",
            #"{"action":"x","pad":""# + String(repeating: "p", count: HypernoteDocument.maximumBytes) + "\"}",
        ] { #expect(HypernoteAction(content: content) == nil, "\(content.prefix(60))") }
    }
}
