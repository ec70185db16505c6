import MLS
import Nostr
import Testing

@testable import Marmot

/// Bytes of MDK 0.11.0, recorded by the nostrc project (MIT licence) with throw-away keys: two key packages, a Welcome
/// and two events of a group.
enum V2Vectors {
    /// Time at which the recorded key packages are valid.
    static let now: UnixTime = 1_790_000_000

    /// A key package of MDK's engine.
    static let engineKeyPackage =
        """
        {"id":"83c108f4355a6125db7cb58122cd92b4513f81cf0d41f3abda69ca9d10e36c57","pubkey":"d47364a8c4a351869\
        fcc5bb76bb46fd9699894fb3cfbb63f8e15ab62aa866440","created_at":1790000000,"kind":30443,"tags":[["d","\
        e1c4cbb21f33cea068adf34b25c6bc5008247447a35bcada92424eb2812698d0"],["mls_protocol_version","1.0"],["\
        i","64d468821a1ec63d3c238c472ece1c0b0e1fa0c17922fd40104ea167cea49d10"],["mls_ciphersuite","0x0001"],\
        ["mls_extensions","0x0006"],["mls_proposals","0x0008"],["app_components","0x8001","0x8003","0x8004",\
        "0x8009","0x800c"]],"content":"AAEABQABAAEg/MEWPSMW6n6scHz00KOZdK4pDpluP9zHZfLmblyOOTUgCrUHPoOZIQ71n\
        PmmUEmwtqajh/f2+EjWgCKPYg6hnlIgtZrO1c0xPr7AyfzRGtPcTUQ/Ptt1zId6cMusPyhZxWQAASDUc2SoxKNRhp/MW7drtG/Za\
        ZiU+zz7tj+OFatiqoZkQAIAAQIAAQIABgIACAIAAQEAAAAAar2oCwAAAABrLHQbQIYABkCCQIAAAQ0MAAGAAYADgASACYAMAAIBA\
        IAJQGjUc2SoxKNRhp/MW7drtG/ZaZiU+zz7tj+OFatiqoZkQAAAAABqvbYbmDQ9BJQIoL4nKbqnlRczacIeXsrGNJMmleI+R287J\
        4DvR+k8gPibf/b65Mv6Truh1KFU4n8WVqHCTE3JTV0g+kBA4NxpxTVqvALKtL4qiNj7+Of8piMvxu4oUkDCfF8pZhyeFcg6eiis7\
        jeK6GXnXLRkjgVjyNf5bFr+aO5IHlMVAwcABgQDAAQAQEAsCzGIoqLMPxND7B+7Ieg1Zzy7kVe8OHRMUoVAM3lUYP3x9Lm3nDaP/\
        +fTgbBly7jPKXH0Kfi77aIdbUe5DDIC","sig":"18d8dbb87b891ec45e97e7e4a456e59443ff466f347987f3c0b3260af000\
        4c417fce305845bc13bb16b1f0691dae04e954c2eb1cf4b51877abf1721c9bf530d7"}
        """
    /// A key package of White Noise.
    static let appKeyPackage =
        """
        {"id":"b92358de3e1cb94650a3fbdbd83f3be68667b37c19ab2fb7a47eedf09c4e67d5","pubkey":"93caf9baf866e86c6\
        ad90ef84df11759233240f16120dfb3c69fc4a54da778e5","created_at":1790000000,"kind":30443,"tags":[["d","\
        397a624e9c1dedf8b6e6bc6440b70ab38beba8cd99d64c7ae5ffed37b4d51f4a"],["mls_protocol_version","1.0"],["\
        i","c8af011df3eb5876a95dabd32cc4c7ec4d42894d62609cda19538d3612b6d9c7"],["mls_ciphersuite","0x0001"],\
        ["mls_extensions","0x0006","0xf2d1","0xf2d2","0xf2d4"],["mls_proposals","0x0008","0x000a"],["app_com\
        ponents","0x8001","0x8002","0x8003","0x8004","0x8005","0x8006","0x8007","0x8008","0x8009","0x800b","\
        0x800c"]],"content":"AAEABQABAAEgnBsmbZasgYI9a0aE1KF9cN5kYhT2RN218Y3Z6GitD2MgKquazRKLua38G9zPUSLGQSE\
        VCHpnGGfNyPeiDUidRBwgq3QSjH7zEbXt0XpZkT3IBEFzmwzALFQSd7nqJvRvHdEAASCTyvm6+GbobGrZDvhN8RdZIzJA8WEg37P\
        Gn8SlTad45QIAAQIAAQgABvLR8tLy1AQACgAIAgABAQAAAABqvagMAAAAAGssdBxAkgAGQI5AjAABGRgAAYABgAKAA4AEgAWABoA\
        HgAiACYALgAwAAgEAgAlAaJPK+br4ZuhsatkO+E3xF1kjMkDxYSDfs8afxKVNp3jlAAAAAGq9thxvGIFczw1d/Fy23Aaq7b1dHdj\
        tpVsb7r8PrnYueOZz1Hzq52706uIO+LOVzQbnzFKoqywjPPUp6HbwAvrGCegsQEDm6GJ0BoKl9LeA/C20QZYgjBWQnsCbT45IgHj\
        BCrwExFDdcIMrUwLybLwJg5rLDlM83wa0eglEBZvijLFq5mQABwAGBAMABABAQEjt56QE2mrvavxTMVNEQ0nUKnU+fgs3hKVYoH7\
        vgjOAiGDydke4kWdE1kWFs06GU1JVrpQ1qFT+6RsumEfndA0=","sig":"87cd087f0f1bb1a1881c5e8897a551e4a56c5d664a\
        709f69f88589a9dc2875beca4075ab0dd88ef1f5eef0b5077a7a8549e2fb76638a972e0ab2f32c53a9eead"}
        """
    /// For the owner of ``engineKeyPackage``.
    static let engineWelcome =
        """
        {"id":"0993e5dc940b05b6f00a833fa22b39c687cf34b732592c6a6da49c6dfb7f37fb","pubkey":"fddcb9dbb14f0e18b\
        95d6ffc6cdb17ec49f3ff7a4942cc21ade6361fbf0c2678","created_at":1790817819,"kind":444,"tags":[["e","83\
        c108f4355a6125db7cb58122cd92b4513f81cf0d41f3abda69ca9d10e36c57"],["relays","wss://relay-a.example.co\
        m","wss://relay-b.example.com"]],"content":"AAEAAwABQJggZNRoghoexj08I4xHLs4cCw4foMF5Iv1AEE6hZ86knRAg\
        nM/3UeHf3GIQwvgVEY5zeNV9cPvRLN+T5DyTiOjFKCRAVM0xgKqtuCqd9x1TecrB6i0pUoDXFuauBj12n8vEz/KU7jubUV6sOBBb\
        K+6fzNBowmBeL8AmZrzcsMbn5IVKQd9CGHF5BdbY4o4OJNFr4zi+Ofd4GkSDXOPCcwJvFazx71Fvx/YiqY+wLAXfTMHBS1fuf50d\
        lUFUBS5KN0XyrBAL9lwU3qhckJyA3i7j11BoO2iXHhyh3Jm4bpLcg6AMc9hjre15Hj94X+0nLG+YEXvrhlrjHavQBOu2ga+MTD2j\
        wzYWO+mkHiXK8JNiDxd9Sm/L4E4yD+w4QVca16ZQbJT1tD2tyQKqe1f2A0lX0pRg0sHk+XhZnk0buvyr90dtVBKYyXiObsVSsMe4\
        +gR6ww4JFX89bRg/BRloO4tpgdBfSh1girlH1nBFcb/Qce7Jav+uuuVPx6FBYc3A42LaT9RnxrTfXcnimsLUK7r2ucYzhmznvhEZ\
        BZEgclQE5vFlK5/6TAdQNZzVVW8VXpYNq5y5oHIiJeHMlIbvdhjJEO4Y1JeTIXmqaKRYno/w9TGDspTCjjyFGo4M8YHA17ql2l2C\
        AapXbuuwjvDQzUkwb46KfP5FQSUn8bo08ECdNrGg8Wdm7uekMFMXIe+ONk7mefMtMe7ENQGW3vw2VYyw1/uh4RfPbYJ299IRd3Zl\
        4XKckmooBc/vXw+tNFIfKJ8de5CWzD8a7bo1feOcnG7nzyIdQVMgZ/k/PTQQJfsSgJ72YcOUBMfU3DL0aKZWvsrbVSuI2bDQNXWT\
        hyH9LJJOXRakcl6QlJPmvRgkKgV0onBJ6vGfmuy/Bgz5ENm6uChzuW3MaaUaQCc9OQJeO7akSinh935Ry8tV82LEPCc7avn/AuMo\
        4K216YIXmVQchF+/jhMVvagf1/8JMhwBEZRwg3NXLVw/o9NGnlM2l8iTu/hLCUL5E1ZilKhQai3m3Ayed2/Mjk3D1rx9Nh0QeCwx\
        9+AZ96akOJEstPM2AhcWiyaTUPScpFy6cS8nL6nqGB8V8NBgh+QzV3hcPnSaWZoEr6zgd7R8E9EC8KSA079zP8A0HP4M4MfRqPZY\
        m8VdmpngaqNbBhcyeZ7iBfp9VVpEg3sBePw8Kwz3cIBGk0pcoApeFHuVny5lkne2nxrJ9VSbzJJjCduV7iwhg1uToZrVS81QxtKt\
        /+CUa3gtJkXZrF8geredW1dsqklYtHz3rf5ACKDScRdmNjIaQLxRiLK8B7hbKRNNYi60xLUK03vt56IwUtFN89qu8zk6nF0aN8pl\
        t7DqI72zSWK59j7Vnk4lItX7LRA4jocXcbUCiSmxe5NGozNSVyJdXlhaSqTe6F4Ab8/2M772Z+ScZ+s788JIeg4GjHqHm0eHED60\
        bbWq33lBiFH3Ww3fYiCv5Gj58uRjwXsReuUjyn6o9JH8PUOgINUp0CqT+sPhMJcnuMgNX85WitCS6Mi4Aq16QYX4h+nfW6NsiUhw\
        0cGfIxT7wUIdXo+nm69por465PM9GM1UvPjR45CZnCWlrN2e6dlioqBjpAMM0baKWuaenRcrRTfuoUMlAe1w7A0SwPVX3fyeuAa4\
        7rKM7tq8GsSruRvLdjRL+VUNViEzCA9MH8VoRSxlTVNJ+7HyxSrzh84S8XL6QPd8CV11NT9Es7RhRbMvha6sxq1vX3fHuf8j5Att\
        "}
        """
    /// The extensions of the group's context in the first epoch, without the header of their vector.
    static let engineContext =
        """
        00030702000602000800000640bd40bb00010b0a8001800380048009800c800129145732342d4520656e67696e652d646566\
        61756c74134d444b2076302e31312e30206669787475726580032120fddcb9dbb14f0e18b95d6ffc6cdb17ec49f3ff7a4942\
        cc21ade6361fbf0c26788004405565dbc85f5e246a25dd8257acfb02185d742916963531dcc8dab45c9c1439a56934197773\
        733a2f2f72656c61792d612e6578616d706c652e636f6d197773733a2f2f72656c61792d622e6578616d706c652e636f6d80\
        0c0100
        """
    static let appContext =
        """
        000309020006040008000a000006411d411b00010f0e80018003800480068009800b800c80012a155732342d452077686974\
        652d6e6f6973652d617070134d444b2076302e31312e30206669787475726580032120cb050b743bde3e6a3bf22a316d04fb\
        8af6efcd6e49ec556d1c231feef49c370580044055f0858ac0947ecf53486ee6d1845655857400d29329333dfc9e8db61a28\
        c17bcd34197773733a2f2f72656c61792d612e6578616d706c652e636f6d197773733a2f2f72656c61792d622e6578616d70\
        6c652e636f6d80060c010300001000000000000000800b404812656e637279707465642d6d656469612d76320b0a626c6f73\
        736f6d2d7631280a626c6f73736f6d2d76311c68747470733a2f2f626c6f73736f6d2e6578616d706c652e636f6d2f800c01\
        00
        """
    /// A commit of epoch 2 in its event.
    static let commitEvent =
        """
        {"id":"2218bcfc48c5a26a93686956788145dc6eb23889f6292793cd9aff04e7503912","pubkey":"7e0d9d836af5a69d0\
        b2867f06c9b3b655cf903141db7d6c5ee1ba8f05b93cb08","created_at":1790840296,"kind":445,"tags":[["h","36\
        260c9aa6c90dd52c8241f09b838cd8d43cf42485f55bca596cce03582f8eab"]],"content":"y98TkL6f3MKDThEDmDnT7s4\
        k+vbb6QPuHdA0fAwGUrHCba5UoYWaR5Wwk9TZqMyh/VOaV3PdEMLNRSKEb7zBtMe+PadD407P1Sdxp+mvKdpd2YXQBN8B3N9wOL2\
        VEftNkMeeEY2TDcHMRTz6xaiS6pZCYdR4t3zt+1mmTVVG3rQ4vltR0DRunozAf6PaAZW2ZSd/a8JBT2NHZINW0DBZWuADDWTYRL/\
        l+cwo+om4xNgq/n/dbND6lXXWBwsTUcgrzRwJ5w3ldxFLlZcjH8CXD/yNvBG3yDlPBN+FrGp1SOYA9+THLr+csmLbPdWgsB4vJ64\
        XhKf7qj2vqaWWAA93C021zkFWiVvzhuSWm1MNQ/wrtfl6c/s95oH8d41UVDlj5w7gNExSPDsrJaqNgLooUJsM1Qp2TUx1kSqv2SK\
        bKAxb3FahySXbnhkDOPIqKs5JiUSScSW2WXQI2rEfXFkCcQ7EEAnMD7C0pUZgJh8fgVbMxA+HtmtmPiOYyUCfKrXqh6OxQfMaSQy\
        3AfmNRXN3ewUPQ3KBbhDRZANNEF5uib6TcMta2H2PQBGN/N2h+EBdhNQsmiyHyoR5fu/US8ZGXRoEcAz8Hq6jclRtF67Z5dnRgXP\
        utq+7lvP278f0AYlrhBMJED1f3xk8I2SoJHlKVbOXAHH/G1xYyx0ArHHViiL7mFVphHXy/W0keqWKU4OeIOpvjLBUs7dnY6Sz3Ge\
        xJ3Xges9LxIOrnwF5Dcd+3ftnclbXfAp8TcHufU5yKMgsHyAoQNoyRW8pCdNGXSFzUxD7KcbJp3bkhGLmpoLo/dQxPHbhMgu9lHK\
        q31V3bFGJ5hKiAvUa05fuAB7b5irl6zaxTbOv0g7CmFMiYkP4tDpfCcBEdzG8K6zviYmDrVNUyv0HZ0sOWop2Yy9cW14Uznyh71C\
        s0mHtha6R9OLCHK/D3EtAVuc38Hnm5aTM4N6+BXDetYHqAScZtxbh9eeWQZ4rXpOphEEM/0XaJBEdWXvvz2XhazFkqe1bOtlzn33\
        G1S0sitaAMvvv8xy8v2X5DMDVoNbdm6tYMtmCB4vKBQdkdvQhbIuVoPwLY9MumSBE5FyfE5+Wsz3k176B/oKIHyUIxUM7dKkUkOY\
        LCqtFS9RIWIR4I2dOdF8oSnQb9iSIv/vuZ4Im","sig":"def2a3ef035506af6e8af632ac46591d826b2d0e00fda4ac53b318\
        1fe96f1a783e4e4ddc2489c490e9cace693010e5fbf84b37fde3f83844d56d34923ce9dc44"}
        """
    /// The outer key of epoch 2.
    static let commitKey = "5d161affc646080710946dc45841a1c5b48ceabfc1bcc0e192f46d26f99ac60f"
    /// SHA-256 of the commit's MLSMessage.
    static let commitDigest = "b372772b08d5fd6a7916a5999ba2909e51063475e419f0b2877855bb01fff84a"
    static let innerEvent =
        """
        {"id":"3697780335c1e30f8767f9323f7973da22ef6aa0903ccb9f20078cfeffa955a8","pubkey":"c9e0b87b6914b362d\
        1113cec25d6aca7005693a2d38d5103dfe2895b7965508a","created_at":1790000100,"kind":9,"tags":[],"content\
        ":"before any commit"}
        """

    static func event(_ json: String) throws -> Event { try Event(json: Array(json.utf8)) }
    static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }
    static func bytes32(_ hex: String) throws -> Bytes32 { try #require(Bytes32(hex: hex)) }

    /// The facts about the leaf of a recorded key package, whose component list and proof are cut out of its bytes.
    static func leaf(_ package: KeyPackage, components: [UInt16]) throws -> ProvenLeaf {
        let header: [UInt8] = [0x80, 0x09, 0x40, 0x68]
        let start = try #require(
            package.encoded.indices.first { package.encoded[$0...].starts(with: header) })
        return ProvenLeaf(
            identity: package.leafNode.statedIdentity?.bytes, signatureKey: package.leafNode.signatureKey,
            cipherSuite: package.cipherSuite.rawValue, components: components,
            proof: Array(package.encoded[(start + 4)..<(start + 108)]))
    }
}

/// Yields only zeros: BIP-340 signatures without auxiliary randomness.
struct ZeroGenerator: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}

extension GroupComponent {
    /// Decodes hexadecimal data and expects it to encode to the same bytes.
    static func checked(_ hex: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Self {
        let data = try V2Vectors.bytes(hex)
        let value = try Self(data: data)
        #expect(value.encoded == data, sourceLocation: sourceLocation)
        return value
    }

    /// Expects every truncation of a valid encoding, and every extension of it, to be refused.
    static func refusesOtherLengths(_ hex: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let data = try V2Vectors.bytes(hex)
        for count in 0..<data.count {
            expectError(.badComponent, sourceLocation: sourceLocation) { _ = try Self(data: Array(data[..<count])) }
        }
        expectError(.badComponent, sourceLocation: sourceLocation) { _ = try Self(data: data + [0]) }
    }

    static func refuses(_ hex: String, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
        expectError(.badComponent, text, sourceLocation: sourceLocation) {
            _ = try Self(data: try V2Vectors.bytes(hex))
        }
    }
}
