/// Members of a JSON object in their original order. Names are unique: of a repeated member the first is kept.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One name and its value.
    public struct Member: Hashable, Sendable {
        /// The name, unique in its object.
        public let name: String
        /// The value, of any type.
        public var value: JSONValue
    }

    /// The members in their original order; new ones are last.
    public private(set) var members: [Member] = []

    /// Creates an object without members.
    public init() {}

    /// Creates an object from literal members; of a repeated name the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// Accesses a member. Setting nil removes it; setting a new name appends it. Takes time linear in the number of
    /// members.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    init(_ reader: inout JSONReader) throws(NostrError) {
        var names: Set<String> = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            let value = try JSONValue(&reader)
            if names.insert(name).inserted { members.append(Member(name: name, value: value)) }
        }
    }
}
