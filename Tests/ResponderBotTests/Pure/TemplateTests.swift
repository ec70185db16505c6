import BotKit
import Testing

@testable import ResponderBot

struct TemplateTests {
    private func fill(_ text: String, _ values: [Placeholder: String]) throws -> String {
        try Template(text).filled { values[$0] ?? "" }
    }

    @Test(arguments: [
        ("Hello {name}!", "Hello Ann!"), ("{{name}} is {name}", "{name} is Ann"), ("{1|nobody}", "nobody"),
        ("{2|nobody}", "two"), ("}}{{", "}{"), ("", ""), ("{args}", "{name}"), ("{name|a|b}{3|a|b}", "Anna|b"),
    ])
    func fillsPlaceholders(_ text: String, _ filled: String) throws {
        #expect(try fill(text, [.name: "Ann", .positional(2): "two", .args: "{name}"]) == filled)
    }

    @Test(arguments: [
        ("{", Template.SyntaxError.unclosedBrace), ("a {name", .unclosedBrace), ("{na{me}", .unclosedBrace),
        ("a }", .unopenedBrace), ("{name}}", .unopenedBrace),
        ("{}", .unknown("")), ("{Name}", .unknown("Name")), ("{01}", .unknown("01")), ("{21}", .unknown("21")),
        ("{+1}", .unknown("+1")), ("{ name}", .unknown(" name")),
    ])
    func reportsTemplateErrors(_ text: String, _ mistake: Template.SyntaxError) {
        #expect(throws: mistake) { try Template(text) }
    }

    @Test func parsesPlaceholderNames() {
        for name in Placeholder.names + ["1", "20"] { #expect(Placeholder(name)?.name == name) }
    }

    @Test func percentEncodesURLValues() throws {
        let url = try Template("https://api.example/{1}?q={args}")
        let filled = try url.filledAddress { $0 == .args ? "../a b&c=d#é" : "x/y..z" }
        #expect(filled == "https://api.example/x%2Fy..z?q=..%2Fa%20b%26c%3Dd%23%C3%A9")
    }

    @Test(arguments: [
        ("/a/{1}/b", ".."), ("/a/{1}/b", "."), ("/a/{1}", ".."), ("/{1}/b", "../.."), ("/a/{1}", "x/../../b"),
        ("/a/{1}", "..\\.."), ("/a/{1}", "x\\..\\y"), ("/a/{1}", "%2e%2e"), ("/a/{1}", "%2E."), ("/a/{1}", ".%2e"),
        ("/a/{1}", "%252e%252e"), ("/a/{1}", "..%2fb"), ("/a/{1}", "..%5cb"), ("/a/{1}", "%%32%65."), ("/a/.{1}", "."),
        ("/a/{1}.", "."), ("/a/.{1}", "%2e"), ("/a/%2e{1}", "."), ("/a/%2{1}.", "e"), ("/a/.{1}b", "./"),
        ("/a/.{1}/b", ""), ("/a/{1}{2}/b", "."), ("/a/{1|..}/b", ""), ("/a/{1}", "..;x"), ("/a/{1};v=1/b", ".."),
        ("/a/{1}", " .. "), ("/a/{1}", "..\0"), ("/a/../{1}", ".."), ("/a/{1}?q=1", ".."), ("/a/{1}#b", ".."),
        ("/a/{1}", "?/../b"), ("/a/{1}", "#/.."),
    ])
    func refusesValuesThatChangeThePath(_ path: String, _ value: String) throws {
        let error = #expect(throws: BotError.self) {
            try Template("https://api.example" + path).filledAddress { _ in value }
        }
        #expect(error?.code == .addressRefused)
    }

    @Test(arguments: [
        ("/a/{1}/b", "...", "/a/.../b"), ("/a/{1}", "a..b", "/a/a..b"), ("/a/{1}", "..a", "/a/..a"),
        ("/a/{1}", "1.2/3", "/a/1.2%2F3"), ("/a/{1}", "", "/a/"), ("/a/../{1}", "b", "/a/../b"),
        ("?q={1}", "..", "?q=.."), ("?q=/{1}", "..", "?q=/.."),
        ("/a?q={1}/x", "../..", "/a?q=..%2F../x"), ("/a#{1}", "..", "/a#.."), ("/a/{1}", "%", "/a/%25"),
        ("/a/{1}", "%zz%2", "/a/%25zz%252"), ("/a/{1}", "é", "/a/%C3%A9"),
    ])
    func acceptsValuesThatKeepThePath(_ path: String, _ value: String, _ filled: String) throws {
        let address = try Template("https://api.example" + path).filledAddress { _ in value }
        #expect(address == "https://api.example" + filled)
    }
}
